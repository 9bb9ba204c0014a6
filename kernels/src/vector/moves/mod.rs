//! Moves elements: with strides, from rows to columns, and to the other byte order.

pub(crate) mod copy;
pub(crate) mod order;
pub(crate) mod tile;
