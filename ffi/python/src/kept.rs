//! Handles of the reader that Python objects hold, with the owner of what they borrow from.
//!
//! A handle such as [`Object`] borrows from a topology. Python has no lifetimes, so a [`Kept`]
//! holds the handle as if what it borrows from lived forever, together with the owner of that. It
//! shows the handle only to closures that must do for every lifetime, so nothing that borrows gets
//! out alone.

use memmap2::Mmap;
use parking_lot::Mutex;
use std::any::Any;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use topobroker_layout::OpenError;
use topobroker_layout::header::HEADER_LEN;
use topobroker_reader::cluster::{Cluster, ClusterNode, ClusterOpenError, NodeGroup, NodeTopology};
use topobroker_reader::links::Links;
use topobroker_reader::{Archive, Object, Objects, Topology, View};

/// What a handle borrows from; `None` for what this process has adopted, which is there as long as
/// it runs.
type Owner = Option<Arc<dyn Any + Send + Sync>>;

/// A handle that borrows.
pub(crate) trait Handle {
    /// The handle that borrows for `'a`.
    type Of<'a>: Send + Sync;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident: $handle:ty;)*) => { $(
        $(#[$doc])*
        pub(crate) enum $name {}
        impl Handle for $name {
            type Of<'a> = $handle;
        }
    )* };
}
handles! {
    /// [`Topology`], also of a view.
    OfTopology: Topology<'a>;
    /// [`Object`].
    OfObject: Object<'a>;
    /// An iterator that threads share.
    OfObjects: Mutex<Objects<'a>>;
    /// [`Links`].
    OfLinks: Links<'a>;
    /// [`Cluster`].
    OfCluster: &'a Cluster<'a>;
    /// [`ClusterNode`].
    OfNode: ClusterNode<'a>;
    /// [`NodeGroup`].
    OfGroup: NodeGroup<'a>;
}

/// A handle with the owner of what it borrows.
pub(crate) struct Kept<H: Handle> {
    /// Borrows from `owner`, and is dropped before it.
    handle: H::Of<'static>,
    owner: Owner,
}

/// A handle as closures see it: it borrows for any lifetime, and so must what they return.
pub(crate) struct Shown<'a, 'k, H: Handle>(&'k H::Of<'a>);

impl<'a, H: Handle> Deref for Shown<'a, '_, H> {
    type Target = H::Of<'a>;

    fn deref(&self) -> &H::Of<'a> {
        self.0
    }
}

impl<H: Handle> Clone for Kept<H>
where
    H::Of<'static>: Clone,
{
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), owner: self.owner.clone() }
    }
}

impl<H: Handle> Kept<H> {
    /// A handle that borrows from what this process has adopted.
    pub(crate) fn adopted(handle: H::Of<'static>) -> Self {
        Self { handle, owner: None }
    }

    /// Whether it borrows from what this process has adopted.
    pub(crate) fn is_adopted(&self) -> bool {
        self.owner.is_none()
    }

    /// Asks the handle.
    #[inline]
    pub(crate) fn ask<R>(&self, question: impl for<'a> FnOnce(&H::Of<'a>) -> R) -> R {
        question(&self.handle)
    }

    /// Asks two handles. The question must not keep one of them in the other, as it could in one
    /// with a lock: then it would not be kept by its owner.
    pub(crate) fn ask_with<K: Handle, R>(
        &self,
        other: &Kept<K>,
        question: impl for<'a> FnOnce(&H::Of<'a>, &K::Of<'a>) -> R,
    ) -> R {
        question(&self.handle, &other.handle)
    }

    /// Another handle that borrows from the same.
    #[inline]
    pub(crate) fn map<K: Handle>(
        &self,
        of: impl for<'a> FnOnce(Shown<'a, '_, H>) -> K::Of<'a>,
    ) -> Kept<K> {
        Kept { handle: of(Shown(&self.handle)), owner: self.owner.clone() }
    }

    /// Another handle that borrows from the same, if there is one.
    #[inline]
    pub(crate) fn find<K: Handle>(
        &self,
        of: impl for<'a> FnOnce(Shown<'a, '_, H>) -> Option<K::Of<'a>>,
    ) -> Option<Kept<K>> {
        of(Shown(&self.handle)).map(|handle| Kept { handle, owner: self.owner.clone() })
    }

    /// Another handle that borrows from the same, or why there is none.
    pub(crate) fn fallible<K: Handle, E>(
        &self,
        of: impl for<'a> FnOnce(Shown<'a, '_, H>) -> Result<K::Of<'a>, E>,
    ) -> Result<Kept<K>, E> {
        of(Shown(&self.handle)).map(|handle| Kept { handle, owner: self.owner.clone() })
    }

    /// Other handles that borrow from the same.
    pub(crate) fn each<K: Handle>(
        &self,
        of: impl for<'a> FnOnce(Shown<'a, '_, H>) -> Vec<K::Of<'a>>,
    ) -> Vec<Kept<K>> {
        let all = of(Shown(&self.handle)).into_iter();
        all.map(|handle| Kept { handle, owner: self.owner.clone() }).collect()
    }
}

impl Kept<OfTopology> {
    /// The topology of a view of this one.
    pub(crate) fn view<E>(
        &self,
        of: impl for<'a> FnOnce(Topology<'a>) -> Result<View<'a>, E>,
    ) -> Result<Self, E> {
        Ok(Self::of_view(of(self.handle)?, self.owner.clone()))
    }

    /// The topology of a view of what this process has adopted.
    pub(crate) fn of_adopted_view(view: View<'static>) -> Self {
        Self::of_view(view, None)
    }

    fn of_view(view: View<'static>, below: Owner) -> Self {
        let (view, owner) = keep(view, below);
        Self { handle: view.topology(), owner }
    }

    /// The topology in a file, which is mapped.
    pub(crate) fn in_file(file: &Path) -> io::Result<Result<Self, OpenError>> {
        let (bytes, owner) = mapped(file)?;
        let open = || {
            topobroker_layout::open(bytes)?;
            Archive::open(bytes.get(HEADER_LEN..).unwrap_or_default())
        };
        Ok(open().map(|archive| {
            let (archive, owner) = keep(archive, owner);
            Self { handle: archive.topology(), owner }
        }))
    }
}

impl Kept<OfCluster> {
    /// The cluster in a file, which is mapped.
    pub(crate) fn in_file(file: &Path) -> io::Result<Result<Self, ClusterOpenError>> {
        let (bytes, owner) = mapped(file)?;
        Ok(Cluster::open(bytes).map(|cluster| {
            let (handle, owner) = keep(cluster, owner);
            Self { handle, owner }
        }))
    }
}

impl Kept<OfNode> {
    /// The topology of a node.
    pub(crate) fn topology(&self) -> Result<Kept<OfTopology>, ClusterOpenError> {
        let (node, owner): (&NodeTopology<'_>, _) = keep(self.handle.open()?, self.owner.clone());
        let (archive, owner) = keep(node.archive(), owner);
        Ok(Kept { handle: archive.topology(), owner })
    }
}

/// The bytes of a regular file. If its owner cuts it short meanwhile, the kernel ends the process
/// with SIGBUS.
fn mapped(file: &Path) -> io::Result<(&'static [u8], Owner)> {
    // A FIFO without a writer must not be waited for.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(file)?;
    if !file.metadata()?.is_file() {
        let text = "is not a regular file; expected one that topobroker has written";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    // SAFETY: the mapping is private and read-only. If the file is written meanwhile, bytes may
    // change: they are checked as bytes of any value.
    let mapping = unsafe { Mmap::map(&file)? };
    let (mapping, owner) = keep(mapping, None);
    Ok((mapping, owner))
}

/// A value, with what it borrows from itself.
struct Holder<T> {
    value: T,
    _below: Owner,
}

/// Keeps a value that borrows from `below`. Returns it with its owner.
fn keep<T: Send + Sync + 'static>(value: T, below: Owner) -> (&'static T, Owner) {
    let holder = Arc::new(Holder { value, _below: below });
    let place: *const T = &raw const holder.value;
    // SAFETY: the value is behind a reference count, so it stays in its place as long as the owner
    // is kept. Within this module each reference goes into a `Kept` or a holder together with its
    // owner. A `Kept` shows it only to closures that must do for every lifetime, and no such
    // closure puts it into another handle.
    let value = unsafe { &*place };
    (value, Some(holder))
}
