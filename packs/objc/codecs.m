/* Ash's dictionary as JSON and property lists. */
#import "probes.h"

#define SMALL "Ash's dictionary, {\"one\":\"won\",\"two\":2,\"three\":\"free\"}, with an autorelease pool around each operation " \
              "inside the time, as in his program."

static NSDictionary *dictionary(void) {
  return [NSDictionary dictionaryWithObjectsAndKeys:@"won", @"one", [NSNumber numberWithInt:2], @"two", @"free",
                                                    @"three", nil];
}

static void release(void *state) {
  [(id)state release];
}

static void *object(const latlas_context *context) {
  NSDictionary *made;
  (void)context;
  POOL(made = [dictionary() retain]);
  return (void *)made;
}

static NSData *plist_of(NSDictionary *object, NSPropertyListFormat format) {
  return [NSPropertyListSerialization dataWithPropertyList:object format:format options:0 error:NULL];
}

static void *json(const latlas_context *context) {
  NSData *made;
  (void)context;
  POOL(made = [[NSJSONSerialization dataWithJSONObject:dictionary() options:0 error:NULL] retain]);
  return (void *)made;
}

static void *xml(const latlas_context *context) {
  NSData *made;
  (void)context;
  POOL(made = [plist_of(dictionary(), NSPropertyListXMLFormat_v1_0) retain]);
  return (void *)made;
}

static void *binary(const latlas_context *context) {
  NSData *made;
  (void)context;
  POOL(made = [plist_of(dictionary(), NSPropertyListBinaryFormat_v1_0) retain]);
  return (void *)made;
}

/* A result of nil ends the loop: it is not counted. */
#define LOOP(name, expression)                           \
  static uint64_t name(void *state, uint64_t turns) {    \
    for (uint64_t turn = 0; turn < turns; turn++) {      \
      id made = nil;                                     \
      POOL(made = (id)(expression));                     \
      if (!made) return turn;                            \
    }                                                    \
    return turns;                                        \
  }

LOOP(json_encode, [NSJSONSerialization dataWithJSONObject:(id)state options:0 error:NULL])
LOOP(json_decode, [NSJSONSerialization JSONObjectWithData:(NSData *)state options:0 error:NULL])
LOOP(xml_encode, plist_of((id)state, NSPropertyListXMLFormat_v1_0))
LOOP(binary_encode, plist_of((id)state, NSPropertyListBinaryFormat_v1_0))
LOOP(plist_decode, [NSPropertyListSerialization propertyListWithData:(NSData *)state options:0 format:NULL error:NULL])

#define PROBE(row, before, loop) \
  {.id = row, .method = SMALL, .setup = before, .run = loop, .teardown = release}

FAMILY(codecs,
       PROBE("objc.json_encode", object, json_encode),
       PROBE("objc.json_decode", json, json_decode),
       PROBE("objc.plist_xml_encode", object, xml_encode),
       PROBE("objc.plist_xml_decode", xml, plist_decode),
       PROBE("objc.plist_binary_encode", object, binary_encode),
       PROBE("objc.plist_binary_decode", binary, plist_decode))
