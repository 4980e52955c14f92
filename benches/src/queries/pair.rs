//! One topology in topobroker and in hwloc, and the same sets and objects of it for both.

use topobroker::hwloc::HwlocTopology as Hwloc;
use topobroker::hwloc::capture;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{Archive, Object, ObjectType, RestrictFlags, Set, Topology, View};
use topobroker_rival::bitmap::Bitmap;
use topobroker_rival::queries::{Rival, RivalObject};
use topobroker_rival::restrict::Restricted;

/// One topology, archived and in hwloc's own structures.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// In the archive.
    pub ours: Topology<'a>,
    /// In hwloc.
    pub theirs: Rival<'a>,
}

/// One set, in both forms.
pub struct Sets {
    /// As topobroker has it.
    pub ours: Set,
    /// As hwloc has it.
    pub theirs: Bitmap,
}

impl Sets {
    /// Both forms of this set.
    pub fn new(ours: Set) -> Self {
        let theirs = Bitmap::new(&ours);
        Self { ours, theirs }
    }
}

impl Pair<'_> {
    /// Calls `run` with a topology and with its first half: for us a view, for hwloc a restricted
    /// duplicate.
    pub fn with_both(
        hwloc: &Hwloc<'_>,
        run: impl FnOnce(Pair<'_>, Pair<'_>),
    ) -> anyhow::Result<()> {
        let bytes = to_bytes(&capture(hwloc)?)?;
        let archive = Archive::open(&bytes)?;
        let whole = Pair { ours: archive.topology(), theirs: Rival::new(hwloc) };
        let Sets { ours: set, theirs: bitmap } = whole.contiguous(0, 50);
        let flags = RestrictFlags::REMOVE_CPULESS;
        let view = View::new(whole.ours, &set, flags)?;
        let copy = Restricted::new(hwloc, &bitmap, flags.bits())?;
        let copy = copy.topology();
        run(whole, Pair { ours: view.topology(), theirs: Rival::new(&copy) });
        Ok(())
    }
}

impl<'a> Pair<'a> {
    /// hwloc's counterpart of an object.
    pub fn their(&self, object: Object<'a>) -> RivalObject<'a> {
        let found = self.theirs.object(object.depth().raw(), object.logical_index());
        found.expect("the same topology has the same objects")
    }

    /// All PUs, by logical index.
    pub fn pus(&self) -> Vec<Object<'a>> {
        self.ours.objects_with_type(ObjectType::PU).collect()
    }

    /// Contiguous PUs by logical index: from `from` to `to` percent of all PUs.
    pub fn contiguous(&self, from: usize, to: usize) -> Sets {
        let pus = self.pus();
        let chosen = pus.iter().skip(pus.len() * from / 100).take(pus.len() * (to - from) / 100);
        Sets::new(chosen.filter_map(|pu| pu.os_index()).collect())
    }

    /// Random PUs: about half of all.
    pub fn random_half(&self) -> Sets {
        let mut random = Random(7);
        let pus = self.pus().into_iter().filter(|_| random.below(2) == 0);
        Sets::new(pus.filter_map(Object::os_index).collect())
    }

    /// The first and the last PU.
    pub fn sparse(&self) -> Sets {
        let pus = self.pus();
        let ends = [pus.first(), pus.last()].into_iter().flatten();
        Sets::new(ends.filter_map(|pu| pu.os_index()).collect())
    }

    /// `count` random PUs, some more than once.
    pub fn some_pus(&self, count: usize) -> Vec<Object<'a>> {
        let mut random = Random(99);
        let pus = self.pus();
        (0..count).filter_map(|_| pus.get(random.below(pus.len())).copied()).collect()
    }
}

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}
