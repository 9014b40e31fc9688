// SPDX-License-Identifier: Apache-2.0
//! Nested tuples, the form that shapes, strides, coordinates and layouts have in common.
//!
//! A leaf is as good as a tuple of one: its rank is 1, and its only mode is itself.

/// A leaf, or a tuple of such.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tuple<T> {
    /// One value.
    Leaf(T),
    /// Several, in parentheses where they are written.
    Node(Vec<Tuple<T>>),
}

impl<T> Tuple<T> {
    /// The modes at the top: of a leaf, the leaf.
    pub fn modes(&self) -> &[Tuple<T>] {
        match self {
            Tuple::Leaf(_) => std::slice::from_ref(self),
            Tuple::Node(modes) => modes,
        }
    }

    /// The same modes, by value.
    pub fn into_modes(self) -> Vec<Tuple<T>> {
        match self {
            Tuple::Leaf(_) => vec![self],
            Tuple::Node(modes) => modes,
        }
    }

    /// How many modes there are at the top.
    pub fn rank(&self) -> usize {
        self.modes().len()
    }

    /// How many parentheses a leaf stands in, at most: 0 for a leaf.
    pub fn depth(&self) -> usize {
        match self {
            Tuple::Leaf(_) => 0,
            Tuple::Node(modes) => 1 + modes.iter().map(Tuple::depth).max().unwrap_or(0),
        }
    }

    /// Whether it is written without parentheses.
    pub fn is_leaf(&self) -> bool {
        matches!(self, Tuple::Leaf(_))
    }

    /// The leaf, where it is one.
    pub fn as_leaf(&self) -> Option<&T> {
        match self {
            Tuple::Leaf(leaf) => Some(leaf),
            Tuple::Node(_) => None,
        }
    }

    /// The part at a path of modes: of the empty path, all of it.
    pub fn get(&self, path: &[usize]) -> Option<&Tuple<T>> {
        path.iter().try_fold(self, |tuple, &mode| tuple.modes().get(mode))
    }

    /// The leaves, from left to right.
    pub fn leaves(&self) -> Vec<&T> {
        let mut leaves = Vec::new();
        self.visit(&mut |leaf| leaves.push(leaf));
        leaves
    }

    fn visit<'t>(&'t self, seen: &mut impl FnMut(&'t T)) {
        match self {
            Tuple::Leaf(leaf) => seen(leaf),
            Tuple::Node(modes) => modes.iter().for_each(|mode| mode.visit(seen)),
        }
    }

    /// The same nesting, with something else for each leaf.
    pub fn map<U>(&self, each: &mut impl FnMut(&T) -> U) -> Tuple<U> {
        match self {
            Tuple::Leaf(leaf) => Tuple::Leaf(each(leaf)),
            Tuple::Node(modes) => Tuple::Node(modes.iter().map(|mode| mode.map(each)).collect()),
        }
    }

    /// As [`Tuple::map`], up to the first error.
    pub fn try_map<U, E>(&self, each: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Tuple<U>, E> {
        Ok(match self {
            Tuple::Leaf(leaf) => Tuple::Leaf(each(leaf)?),
            Tuple::Node(modes) => {
                Tuple::Node(modes.iter().map(|mode| mode.try_map(each)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The same nesting, with a tuple for each leaf, up to the first error.
    pub(crate) fn try_map_modes<U, E>(
        &self,
        each: &mut impl FnMut(&T) -> Result<Tuple<U>, E>,
    ) -> Result<Tuple<U>, E> {
        match self {
            Tuple::Leaf(leaf) => each(leaf),
            Tuple::Node(modes) => {
                let modes = modes.iter().map(|mode| mode.try_map_modes(each));
                Ok(Tuple::Node(modes.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The leaves of two tuples in pairs; `None` where their nesting differs.
    pub fn zip<U, R>(
        &self,
        other: &Tuple<U>,
        pair: &mut impl FnMut(&T, &U) -> R,
    ) -> Option<Tuple<R>> {
        match (self, other) {
            (Tuple::Leaf(a), Tuple::Leaf(b)) => Some(Tuple::Leaf(pair(a, b))),
            (Tuple::Node(a), Tuple::Node(b)) if a.len() == b.len() => {
                let modes = a.iter().zip(b).map(|(a, b)| a.zip(b, pair));
                Some(Tuple::Node(modes.collect::<Option<_>>()?))
            }
            (Tuple::Leaf(_) | Tuple::Node(_), _) => None,
        }
    }

    /// Whether two tuples are nested alike, whatever their leaves.
    pub fn is_congruent<U>(&self, other: &Tuple<U>) -> bool {
        self.zip(other, &mut |_, _| ()).is_some()
    }

    /// Whether the other tuple is nested as this one is, or deeper at this one's leaves.
    pub fn is_weakly_congruent<U>(&self, other: &Tuple<U>) -> bool {
        match (self, other) {
            (Tuple::Leaf(_), _) => true,
            (Tuple::Node(a), Tuple::Node(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_weakly_congruent(b))
            }
            (Tuple::Node(_), Tuple::Leaf(_)) => false,
        }
    }
}

impl<T: Clone> Tuple<T> {
    /// All leaves at the top: a leaf stays one.
    pub fn flatten(&self) -> Tuple<T> {
        match self {
            Tuple::Leaf(_) => self.clone(),
            Tuple::Node(_) => {
                Tuple::Node(self.leaves().into_iter().cloned().map(Tuple::Leaf).collect())
            }
        }
    }

    /// A tuple of these leaves; without parentheses where there is one, and `empty` where there is
    /// none.
    pub(crate) fn of_leaves(leaves: Vec<T>, empty: T) -> Tuple<T> {
        let mut leaves: Vec<_> = leaves.into_iter().map(Tuple::Leaf).collect();
        match leaves.len() {
            0 => Tuple::Leaf(empty),
            1 => leaves.remove(0),
            _ => Tuple::Node(leaves),
        }
    }
}

impl<T> From<T> for Tuple<T> {
    fn from(leaf: T) -> Tuple<T> {
        Tuple::Leaf(leaf)
    }
}
