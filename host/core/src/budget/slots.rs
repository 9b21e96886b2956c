//! Where accounts and turns are kept: slots that are used again, with names that are not.

use std::{
    collections::VecDeque,
    ops::{Index, IndexMut},
};

/// Names what is in a slot, and nothing that is put there later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    index: u32,
    generation: u32,
}

impl Key {
    /// The slot, for whoever has just put something in.
    pub(super) const fn index(self) -> u32 {
        self.index
    }
}

/// Values in slots. What is retired can be found until its slot is used again, which is after at least `keep` others.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    retired: VecDeque<u32>,
    keep: usize,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: T,
}

impl<T> Slots<T> {
    pub(super) const fn new(keep: usize) -> Self {
        Self { slots: Vec::new(), retired: VecDeque::new(), keep }
    }

    /// Puts a value in; gives its name, and the retired value whose slot it takes.
    pub(super) fn insert(&mut self, value: T) -> (Key, Option<T>) {
        let free = if self.retired.len() > self.keep { self.retired.pop_front() } else { None };
        let Some(index) = free else {
            let index = self.slots.len() as u32;
            self.slots.push(Slot { generation: 0, value });
            return (Key { index, generation: 0 }, None);
        };
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        let old = std::mem::replace(&mut slot.value, value);
        (Key { index, generation: slot.generation }, Some(old))
    }

    /// Gives the slot up for others.
    pub(super) fn retire(&mut self, index: u32) {
        self.retired.push_back(index);
    }

    /// The slot that a name stands for, unless it was used again.
    pub(super) fn find(&self, key: Key) -> Option<u32> {
        let slot = self.slots.get(key.index as usize)?;
        (slot.generation == key.generation).then_some(key.index)
    }

    /// How many slots there are, used or not.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The name of what is in a slot now.
    pub(super) fn key(&self, index: u32) -> Key {
        Key { index, generation: self.slots[index as usize].generation }
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        &self.slots[index as usize].value
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.slots[index as usize].value
    }
}
