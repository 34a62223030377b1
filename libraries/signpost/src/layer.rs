//! Spans and events of the `tracing` crate as signposts.

use crate::layout::RecordKind;
use crate::{Site, client};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use tracing_core::callsite::Identifier;
use tracing_core::span::{Attributes, Id};
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Marks each time that a span is entered until it is left as a stretch, and
/// each event as a moment, under the names that `tracing` gives them (of
/// events: file and line). Values of fields are not recorded.
#[derive(Debug, Default)]
pub struct Layer {
    sites: RwLock<HashMap<Identifier, &'static Site>>,
}

thread_local! {
    /// The spans that the thread is in, each with its name as recorded, else 0.
    static ENTERED: RefCell<Vec<(Id, u32)>> = const { RefCell::new(Vec::new()) };
}

/// A layer for `tracing_subscriber::registry().with(latlas_signpost::layer())`.
pub fn layer() -> Layer {
    Layer::default()
}

impl Layer {
    fn site(&self, metadata: &'static Metadata<'static>) -> &'static Site {
        let place = metadata.callsite();
        let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = sites.get(&place) {
            return site;
        }
        drop(sites);
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        // As many as there are places in the code; they stay.
        sites.entry(place).or_insert_with(|| Box::leak(Box::new(Site::new(metadata.name()))))
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Layer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if client::is_traced()
            && let Some(span) = context.span(id)
        {
            let site = self.site(attributes.metadata());
            span.extensions_mut().replace(site);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if client::is_traced()
            && let Some(span) = context.span(id)
            && let Some(site) = span.extensions().get::<&'static Site>()
        {
            let name = site.mark(RecordKind::Begin);
            let _ = ENTERED.try_with(|all| all.borrow_mut().push((id.clone(), name)));
        }
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        if client::is_traced() {
            let name = ENTERED.try_with(|all| {
                let mut all = all.borrow_mut();
                let at = all.iter().rposition(|(entered, _)| entered == id)?;
                Some(all.remove(at).1)
            });
            if let Ok(Some(name)) = name
                && name != 0
            {
                client::end(name);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if client::is_traced() {
            self.site(event.metadata()).moment();
        }
    }
}
