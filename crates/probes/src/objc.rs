//! Rows that need an Objective-C runtime, Foundation and AppKit: a pack brings them
//! (`packs/objc`). Without it they stay in every list, with the reason.

use meter::pack::Origin;
use meter::probe::{MachineShape, Probe, Text};
use model::run::Bound;

/// A table of rows: id, title, and what one operation is.
macro_rules! rows {
    ($($row:literal $title:literal $operation:literal;)+) => {
        vec![$(objc_probe($row, $title, $operation)),+]
    };
}

/// The probes of the groups `objc` and `ui`: the rows of Mike Ash's tables.
pub(crate) fn objc_probes() -> Vec<Probe> {
    rows! {
        "objc.message_send" "message send"
            "One message without arguments to an object whose method is empty.";
        "objc.imp_cached_send" "message send through a cached method"
            "One call of an empty method through the pointer that methodForSelector: gave.";
        "objc.invocation_send" "message send by NSInvocation"
            "One invoke of an NSInvocation of an empty method without arguments.";
        "objc.retain_release" "retain and release"
            "One objc_retain() and one objc_release() of an object.";
        "objc.autorelease_pool" "autorelease pool"
            "One push of an empty autorelease pool, and its pop.";
        "objc.object_create" "an object, created and released"
            "One alloc and init of NSObject, and its release.";
        "objc.json_encode" "JSON encoded by Foundation"
            "One small dictionary of two strings and a number made into JSON by NSJSONSerialization.";
        "objc.json_decode" "JSON decoded by Foundation"
            "One small dictionary of two strings and a number read from JSON by NSJSONSerialization.";
        "objc.plist_xml_encode" "XML property list encoded by Foundation"
            "One small dictionary of two strings and a number made into an XML property list by NSPropertyListSerialization.";
        "objc.plist_xml_decode" "XML property list decoded by Foundation"
            "One small dictionary of two strings and a number read from an XML property list by NSPropertyListSerialization.";
        "objc.plist_binary_encode" "binary property list encoded by Foundation"
            "One small dictionary of two strings and a number made into a binary property list by NSPropertyListSerialization.";
        "objc.plist_binary_decode" "binary property list decoded by Foundation"
            "One small dictionary of two strings and a number read from a binary property list by NSPropertyListSerialization.";
        "objc.data_read/16B" "a file of 16 bytes read by Foundation"
            "One NSData of a file of 16 bytes by its path.";
        "objc.data_read/16MiB" "a file of 16 MiB read by Foundation"
            "One NSData of a file of 16 MiB by its path.";
        "objc.data_write/16B" "a file of 16 bytes written by Foundation"
            "One write of an NSData of 16 bytes to a path, over what is there.";
        "objc.data_write/16MiB" "a file of 16 MiB written by Foundation"
            "One write of an NSData of 16 MiB to a path, over what is there.";
        "objc.data_write_atomic/16B" "a file of 16 bytes replaced by Foundation"
            "One atomic write of an NSData of 16 bytes to a path: a temporary file, then a rename.";
        "objc.data_write_atomic/16MiB" "a file of 16 MiB replaced by Foundation"
            "One atomic write of an NSData of 16 MiB to a path: a temporary file, then a rename.";
        "objc.zero_delay" "zero-delay perform"
            "One performSelector:withObject:afterDelay: of 0, from its arming in its own callback to the next call.";
        "objc.task_spawn" "a program started by NSTask"
            "One NSTask created for /usr/bin/false, launched and waited for.";
        "ui.view_create" "a view, created and released"
            "One init of an NSView or UIView, and its release.";
        "ui.window_create" "a window, created and released"
            "One init of an NSWindow, and its release.";
    }
}

fn objc_probe(row: &'static str, title: &'static str, operation: &'static str) -> Probe {
    let (id, variant) = match row.split_once('/') {
        Some((id, variant)) => (id, Some(variant)),
        None => (row, None),
    };
    Probe {
        variants: variant.map(Text::from).into_iter().collect(),
        title: title.into(),
        operation: operation.into(),
        method: "By the pack of packs/objc, which says how; latlas itself has no Objective-C.".into(),
        source: "Mike Ash, Performance Comparisons of Common Operations (2016), read in his program's source.".into(),
        bound: Bound::Memory,
        origin: Origin::NoPack,
        unavailable: if id.starts_with("ui.") { no_views } else { no_runtime },
        ..Probe::blank(id)
    }
}

/// How to get a pack, up to what it needs.
const BUILD: &str =
    "make -C packs/objc, then --pack FILE: `latlas help packs`; on an Apple system or with";

/// Why there is no row of Foundation.
pub(crate) fn no_runtime(_: &MachineShape) -> Option<String> {
    Some(format!("needs the pack foundation.so ({BUILD} GNUstep Base)"))
}

fn no_views(_: &MachineShape) -> Option<String> {
    Some(format!("needs the pack appkit.so ({BUILD} GNUstep GUI, and a display)"))
}
