// The class whose method `virtual_call.cpp` calls and `object.cpp` defines.
// Apart, so that no compiler sees at the call what is called.
#pragma once

namespace latlas {

// No pure function and no virtual destructor: those would need the C++
// runtime library.
class Object {
public:
    virtual void method();
};

// An object of a class derived from it, whose method is empty.
Object *object();

} // namespace latlas
