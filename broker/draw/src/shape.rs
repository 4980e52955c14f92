//! Boxes before they have a place: each with what is in it.

use crate::picture::{BoxKind, Look};

/// A box, and what is in it.
#[derive(Debug, Clone)]
pub(crate) struct NestedBox {
    pub(crate) look: Look,
    /// What it has in common with boxes that are alike.
    pub(crate) likeness: String,
    /// Memory of a NUMA node in bytes; 0 of all others.
    pub(crate) bytes: u64,
    /// Of a device, what it has in common with others of its kind: not its name.
    pub(crate) model: String,
    /// Text of the line to it.
    pub(crate) link: Option<String>,
    /// Above what is in it.
    pub(crate) memory: Vec<NestedBox>,
    pub(crate) children: Vec<NestedBox>,
    /// At the right of what is in it.
    pub(crate) io: Vec<NestedBox>,
}

impl NestedBox {
    pub(crate) fn new(kind: BoxKind, label: String) -> Self {
        Self {
            likeness: label.clone(),
            look: Look::new(kind, label),
            bytes: 0,
            model: String::new(),
            link: None,
            memory: Vec::new(),
            children: Vec::new(),
            io: Vec::new(),
        }
    }

    /// A line of the legend.
    pub(crate) fn legend(text: String) -> Self {
        Self::new(BoxKind::Legend, text)
    }

    /// Cuts what is too long to be read, here and in all that is in it.
    pub(crate) fn cut(&mut self) {
        self.look.cut();
        let parts = self.memory.iter_mut().chain(&mut self.children).chain(&mut self.io);
        parts.for_each(Self::cut);
    }

    /// Puts what is below caches in their place.
    pub(crate) fn without_caches(&mut self) {
        let below =
            std::mem::take(&mut self.children).into_iter().flat_map(|mut child| {
                match child.look.kind {
                    BoxKind::Cache => {
                        self.memory.append(&mut child.memory);
                        self.io.append(&mut child.io);
                        child.children
                    }
                    _ => vec![child],
                }
            });
        let below: Vec<Self> = below.collect();
        self.children = below;
    }

    /// What is in it.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Self> {
        self.memory.iter().chain(&self.children).chain(&self.io)
    }

    /// Number of boxes, with itself.
    pub(crate) fn count(&self) -> usize {
        1 + self.parts().map(Self::count).sum::<usize>()
    }

    /// Whether another box looks the same but for its indexes.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let own = (self.look.kind, self.look.marks, self.look.colour, &self.likeness, &self.link);
        let its = &other.look;
        // The firmware keeps some memory, most of it of the first node.
        let is_about = self.bytes.abs_diff(other.bytes) <= self.bytes.max(other.bytes) / 16;
        is_about
            && own == (its.kind, its.marks, its.colour, &other.likeness, &other.link)
            && self.parts().count() == other.parts().count()
            && self.parts().zip(other.parts()).all(|(one, other)| one.is_like(other))
    }

    /// Whether it is a device, or a bridge with nothing but one device behind it.
    pub(crate) fn is_device(&self) -> bool {
        match (self.look.kind, &self.io[..]) {
            (BoxKind::Pci | BoxKind::Device, []) => true,
            (BoxKind::Bridge, [behind]) => behind.is_device(),
            _ => false,
        }
    }

    /// Whether another device is the same but for names and addresses.
    pub(crate) fn is_same_device(&self, other: &Self) -> bool {
        let own = (self.look.kind, self.look.marks, &self.model, &self.link);
        own == (other.look.kind, other.look.marks, &other.model, &other.link)
            && self.parts().count() == other.parts().count()
            && self.parts().zip(other.parts()).all(|(one, other)| one.is_same_device(other))
    }

    /// The device behind bridges.
    pub(crate) fn innermost(mut self) -> Self {
        match (self.look.kind, self.io.pop()) {
            (BoxKind::Bridge, Some(mut behind)) => {
                behind.link = self.link.take();
                behind.innermost()
            }
            (_, Some(other)) => {
                self.io.push(other);
                self
            }
            (_, None) => self,
        }
    }
}
