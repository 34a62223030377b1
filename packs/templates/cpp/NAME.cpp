#include "latlas_probe.h"

struct Shape {
  virtual void draw() = 0;
  virtual ~Shape() = default;
};
// Two of them: where the compiler sees only one, it compares its address and inlines it.
struct Circle : Shape {
  void draw() override { asm volatile(""); }
};
struct Square : Shape {
  void draw() override { asm volatile("# square"); }
};

static uint64_t virtual_call(void *state, uint64_t turns) {
  Shape *volatile shape = static_cast<Shape *>(state); // volatile: the compiler does not know the type
  for (uint64_t turn = 0; turn < turns; turn++) shape->draw();
  return turns;
}

LATLAS_PACK("@NAME@", "c++ " __VERSION__ " " FLAGS,
            {.id = "@NAME@.virtual_call",
             .title = "virtual call",
             .operation = "One call of a virtual method.",
             .flags = LATLAS_CORE_CLOCK,
             .setup = [](const latlas_context *) -> void * { return static_cast<Shape *>(new Circle); },
             .run = virtual_call,
             .teardown = [](void *state) { delete static_cast<Shape *>(state); }})
