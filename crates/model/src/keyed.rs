//! A list whose items have ids, and an index by id: pages look rows up while they
//! go through rows, and a search each time would take the square of their number.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Deref, DerefMut, Index};
use std::slice::SliceIndex;
use std::sync::OnceLock;

/// What an item is found by.
pub trait HasId {
    /// Its id, and its point where several items may share one.
    fn id(&self) -> (&str, &[u64]);
}

/// A list in its own order. The first lookup makes the index, any change drops it.
#[derive(Clone)]
pub struct Keyed<T> {
    items: Vec<T>,
    /// Places in `items`, sorted by id and point, then by place.
    by_id: OnceLock<Vec<u32>>,
}

impl<T: HasId> Keyed<T> {
    /// The items with this id, whatever their points, in the order of the list.
    pub fn with_id<'k>(&'k self, id: &str) -> impl Iterator<Item = &'k T> + use<'k, T> {
        let mut places = self.sorted(|own, _| own.cmp(id)).to_vec();
        #[cfg(debug_assertions)]
        count::add_items(places.len());
        places.sort_unstable();
        places.into_iter().map(|place| &self.items[place as usize])
    }

    /// The items with this id and point, in the order of the list.
    pub fn at_point<'k>(
        &'k self,
        id: &str,
        at: &[u64],
    ) -> impl Iterator<Item = &'k T> + use<'k, T> {
        let places = self.sorted(|own, point| (own, point).cmp(&(id, at))).iter();
        places.map(|&place| &self.items[place as usize])
    }

    /// The places that compare as equal.
    fn sorted(&self, compare: impl Fn(&str, &[u64]) -> Ordering) -> &[u32] {
        let id_at = |place: u32| self.items[place as usize].id();
        let by_id = self.by_id.get_or_init(|| {
            let mut places: Vec<u32> = (0..self.items.len() as u32).collect();
            // Stable: those of one id and point stay in order.
            places.sort_by(|&a, &b| id_at(a).cmp(&id_at(b)));
            places
        });
        let compared = |place: u32| {
            let (id, at) = id_at(place);
            compare(id, at)
        };
        let from = by_id.partition_point(|&place| compared(place).is_lt());
        let same = by_id[from..].partition_point(|&place| compared(place).is_eq());
        &by_id[from..from + same]
    }
}

impl<T> Keyed<T> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// The whole list: in builds with assertions it is counted how many items were handed
/// out so, or as all of an id, for tests that no page searches for each row.
impl<T> Deref for Keyed<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        #[cfg(debug_assertions)]
        count::add_items(self.items.len());
        &self.items
    }
}

impl<T> DerefMut for Keyed<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        self.by_id.take();
        &mut self.items
    }
}

impl<T, I: SliceIndex<[T]>> Index<I> for Keyed<T> {
    type Output = I::Output;

    fn index(&self, at: I) -> &I::Output {
        &self.items[at]
    }
}

impl<T, I: SliceIndex<[T]>> std::ops::IndexMut<I> for Keyed<T> {
    fn index_mut(&mut self, at: I) -> &mut I::Output {
        &mut (**self)[at]
    }
}

impl<T> From<Vec<T>> for Keyed<T> {
    fn from(items: Vec<T>) -> Keyed<T> {
        Keyed { items, by_id: OnceLock::new() }
    }
}

impl<T> FromIterator<T> for Keyed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Keyed<T> {
        Vec::from_iter(items).into()
    }
}

impl<T> Default for Keyed<T> {
    fn default() -> Keyed<T> {
        Vec::new().into()
    }
}

impl<T> IntoIterator for Keyed<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'k, T> IntoIterator for &'k Keyed<T> {
    type Item = &'k T;
    type IntoIter = std::slice::Iter<'k, T>;

    fn into_iter(self) -> Self::IntoIter {
        (**self).iter()
    }
}

impl<'k, T> IntoIterator for &'k mut Keyed<T> {
    type Item = &'k mut T;
    type IntoIter = std::slice::IterMut<'k, T>;

    fn into_iter(self) -> Self::IntoIter {
        (**self).iter_mut()
    }
}

impl<T: PartialEq> PartialEq for Keyed<T> {
    fn eq(&self, other: &Keyed<T>) -> bool {
        self.items == other.items
    }
}

impl<T: fmt::Debug> fmt::Debug for Keyed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<T: Serialize> Serialize for Keyed<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keyed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Keyed<T>, D::Error> {
        Vec::deserialize(from).map(Keyed::from)
    }
}

/// How many items of all lists this thread was handed as whole lists, or as all of an id.
#[cfg(debug_assertions)]
pub mod count {
    use std::cell::Cell;

    thread_local!(static ITEMS: Cell<u64> = const { Cell::new(0) });

    pub(super) fn add_items(items: usize) {
        ITEMS.set(ITEMS.get() + items as u64);
    }

    /// Those of a task.
    pub fn during<T>(task: impl FnOnce() -> T) -> u64 {
        let before = ITEMS.get();
        let _ = task();
        ITEMS.get() - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Item(&'static str, Vec<u64>, u32);

    impl HasId for Item {
        fn id(&self) -> (&str, &[u64]) {
            (self.0, &self.1)
        }
    }

    fn values_with_id(list: &Keyed<Item>, id: &str) -> Vec<u32> {
        list.with_id(id).map(|item| item.2).collect()
    }

    #[test]
    fn items_of_an_id_are_found_in_their_order_after_any_change() {
        let item = |id, at: &[u64], number| Item(id, at.to_vec(), number);
        let items = [item("b", &[9], 1), item("a", &[], 2), item("b", &[1], 3)];
        let mut list: Keyed<Item> = items.into_iter().collect();
        assert_eq!(values_with_id(&list, "b"), [1, 3]);
        assert_eq!(values_with_id(&list, "a"), [2]);
        assert_eq!(values_with_id(&list, "c"), [0; 0]);
        list[0].0 = "c";
        list.push(item("a", &[], 4));
        list.push(item("a", &[1], 5));
        assert_eq!(values_with_id(&list, "b"), [3]);
        assert_eq!(values_with_id(&list, "a"), [2, 4, 5]);
        assert_eq!(values_with_id(&list, "c"), [1]);
        let at = |at: &[u64]| list.at_point("a", at).map(|item| item.2).collect::<Vec<_>>();
        assert_eq!([at(&[]), at(&[1]), at(&[2])], [vec![2, 4], vec![5], vec![]]);
        list.clear();
        assert_eq!(values_with_id(&list, "a"), [0; 0]);
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_search_is_counted_and_a_lookup_is_not() {
        let list: Keyed<Item> = vec![Item("a", vec![], 1), Item("b", vec![], 2)].into();
        assert_eq!(count::during(|| list.at_point("b", &[]).next().is_some()), 0);
        assert_eq!(count::during(|| list.with_id("b").next().is_some()), 1);
        assert_eq!(count::during(|| list.iter().any(|item| item.0 == "b")), 2);
    }
}
