//! Is a host what hosts with its CPU are, by published figures alone?
//!
//! Types of one provider, CPU and signature are a group ([`groups`]). What a type's loads from memory take is predicted
//! ([`HostModel`]) from the group's mean, the type's family and generation, its L3 and a slope over the number of CPUs;
//! where the response is the largest set, from the type's own smaller sets too. The spread of a group is that of what
//! its types differ from their predictions, each made without it, drawn to that of all groups. Reach and verdict are
//! `model::fit`'s, as for a fleet: [`published_expectation`] gives it what is expected.
//!
//! Of a provider that is not known, or that has too few types with this CPU, the providers of the signature stand for
//! the hosts of a fleet, and their types for these hosts' runs ([`signature_memory`]).

mod contradictions;
mod curve;
mod expected;
mod family;
mod groups;
mod memory;
mod prediction;
mod signature;
mod term;

pub use expected::published_expectation;
pub use groups::{GroupKey, LEAST_TYPES, Response};
pub use memory::NothingPublished;
pub use prediction::{HostModel, LeftOutHost};
pub use signature::{SignatureKey, TypesByProvider, signature_keys, signature_memory};
