#include "object.h"

namespace latlas {

void Object::method() {}

class Empty : public Object {
public:
    void method() override;
};

void Empty::method() {}

static Empty empty;

Object *object() {
    return &empty;
}

} // namespace latlas
