//! Sets of indexes.

use crate::failure::wrong_value;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyInt, PyRange, PyRangeMethods, PyString};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_reader::{Format, Set};

/// A set of indexes of PUs or NUMA nodes, which does not change. Counterpart: `hwloc_bitmap_t`.
///
/// It is made of an iterable of indexes such as a `range` or what `os.sched_getaffinity` returns;
/// of an int, whose bits are the indexes (a negative one has all bits from some on, and so has the
/// set); or of text: hwloc's (`0x0000000f`) or a list (`0-3,8`).
///
/// >>> Set("0-3") | {8} == Set(range(4)) | Set(256)
/// True
#[pyclass(frozen, name = "Set", module = "topobroker")]
pub(crate) struct PySet(pub(crate) Set);

/// Anything that a set is made of.
pub(crate) enum AnySet {
    /// A set of Python, in place.
    Python(Py<PySet>),
    Made(Set),
}

impl Deref for AnySet {
    type Target = Set;

    fn deref(&self) -> &Set {
        match self {
            Self::Python(set) => &set.get().0,
            Self::Made(set) => set,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for AnySet {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(set) = given.cast::<PySet>() {
            return Ok(Self::Python(set.to_owned().unbind()));
        }
        if let Ok(text) = given.cast::<PyString>() {
            return of_text(&text.to_cow()?).map(Self::Made);
        }
        if let Ok(number) = given.cast::<PyInt>() {
            return of_int(&number).map(Self::Made);
        }
        if let Ok(range) = given.cast::<PyRange>()
            && range.step()? == 1
        {
            let (first, end) = (range.start()?, range.stop()?);
            let mut set = Set::new();
            if first < end {
                set.insert_range(index(first)?..=index(end - 1)?);
            }
            return Ok(Self::Made(set));
        }
        let indexes = given.try_iter().map_err(|_| {
            PyTypeError::new_err(format!(
                "{} is no set; expected a Set, an iterable of indexes, an int or text",
                given.get_type().qualname().map_or_else(|_| "this".to_owned(), |it| it.to_string())
            ))
        })?;
        let mut set = Set::new();
        for found in indexes {
            set.insert(index(found?.extract::<isize>()?)?);
        }
        Ok(Self::Made(set))
    }
}

/// An index, within the limit that archives have.
fn index(found: isize) -> PyResult<u32> {
    let index = u32::try_from(found).ok().filter(|it| *it < INDEX_LIMIT);
    index.ok_or_else(|| {
        wrong_value(format!("{found} is no index; expected 0 to {}", INDEX_LIMIT - 1))
    })
}

fn of_text(text: &str) -> PyResult<Set> {
    let format = if text.contains("0x") { Format::Hwloc } else { Format::List };
    let parsed = Set::parse(text, format);
    // One long mask is taskset's.
    let parsed = parsed.or_else(|error| Set::parse(text, Format::Taskset).map_err(|_| error));
    parsed.map_err(|error| wrong_value(error.to_string()))
}

fn of_int(number: &Bound<'_, PyInt>) -> PyResult<Set> {
    let negative = number.lt(0)?;
    // The complement of a negative number has the indexes that are not in the set.
    let bits =
        if negative { number.call_method0("__invert__")? } else { number.clone().into_any() };
    let length: usize = bits.call_method0("bit_length")?.extract()?;
    if length > INDEX_LIMIT as usize {
        return Err(wrong_value(format!("{length} bits are too many for a set")));
    }
    let bytes = bits.call_method1("to_bytes", (length.div_ceil(64) * 8, "little"))?;
    let bytes: &[u8] = bytes.extract()?;
    let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    Ok(match negative {
        true => Set::from_words(words.map(|word| !word), true),
        false => Set::from_words(words, false),
    })
}

#[pymethods]
impl PySet {
    #[new]
    #[pyo3(signature = (indexes = None, /))]
    fn new(indexes: Option<AnySet>) -> Self {
        Self(indexes.map(|set| set.clone()).unwrap_or_default())
    }

    /// The first index; None if the set is empty.
    #[getter]
    fn first(&self) -> Option<u32> {
        self.0.first()
    }

    /// The last index; None if the set is empty or infinite.
    #[getter]
    fn last(&self) -> Option<u32> {
        self.0.last()
    }

    /// Whether it has all indexes from some on.
    #[getter]
    fn is_infinite(&self) -> bool {
        self.0.is_infinite()
    }

    /// The first index alone, to bind to one PU. Counterpart: `hwloc_bitmap_singlify`.
    fn singlify(&self) -> Self {
        Self(self.0.singlify())
    }

    /// The set as text: "hwloc" (`0x0000000f`), "list" (`0-3`) or "taskset" (`0xf`).
    #[pyo3(signature = (format = "list"))]
    fn to_text(&self, format: &str) -> PyResult<String> {
        let format = match format {
            "hwloc" => Format::Hwloc,
            "list" => Format::List,
            "taskset" => Format::Taskset,
            _ => {
                let expected = "expected \"hwloc\", \"list\" or \"taskset\"";
                return Err(wrong_value(format!("format {format:?}: {expected}")));
            }
        };
        Ok(self.0.to_text(format))
    }

    /// Whether all of its indexes are in another set.
    fn issubset(&self, other: AnySet) -> bool {
        self.0.is_included_in(&other)
    }

    /// Whether it has all indexes of another set.
    fn issuperset(&self, other: AnySet) -> bool {
        other.is_included_in(&self.0)
    }

    /// Whether no index is in both.
    fn isdisjoint(&self, other: AnySet) -> bool {
        !self.0.intersects(&other)
    }

    fn __len__(&self) -> PyResult<usize> {
        let weight = self.0.weight();
        weight.map(|it| it as usize).ok_or_else(|| PyOverflowError::new_err("the set is infinite"))
    }

    fn __bool__(&self) -> bool {
        !self.0.is_empty()
    }

    fn __contains__(&self, index: &Bound<'_, PyAny>) -> bool {
        index.extract().is_ok_and(|index| self.0.contains(index))
    }

    fn __iter__(&self) -> PyResult<Indexes> {
        if self.0.is_infinite() {
            return Err(PyOverflowError::new_err("the set is infinite"));
        }
        Ok(Indexes { set: self.0.clone(), next: AtomicU32::new(0) })
    }

    fn __or__(&self, other: AnySet) -> Self {
        Self(&self.0 | &other)
    }

    fn __ror__(&self, other: AnySet) -> Self {
        Self(&self.0 | &other)
    }

    fn __and__(&self, other: AnySet) -> Self {
        Self(&self.0 & &other)
    }

    fn __rand__(&self, other: AnySet) -> Self {
        Self(&self.0 & &other)
    }

    fn __xor__(&self, other: AnySet) -> Self {
        Self(&self.0 ^ &other)
    }

    fn __rxor__(&self, other: AnySet) -> Self {
        Self(&self.0 ^ &other)
    }

    fn __sub__(&self, other: AnySet) -> Self {
        Self(self.0.and_not(&other))
    }

    fn __rsub__(&self, other: AnySet) -> Self {
        Self(other.and_not(&self.0))
    }

    fn __invert__(&self) -> Self {
        Self(!&self.0)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, how: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let is_set = other.is_instance_of::<PySet>()
            || other.is_instance_of::<pyo3::types::PySet>()
            || other.is_instance_of::<PyFrozenSet>();
        let Some(other) = other.extract::<AnySet>().ok().filter(|_| is_set) else {
            return Ok(py.NotImplemented());
        };
        let (one, other) = (&self.0, &*other);
        let answer = match how {
            CompareOp::Eq => one == other,
            CompareOp::Ne => one != other,
            CompareOp::Le => one.is_included_in(other),
            CompareOp::Lt => one != other && one.is_included_in(other),
            CompareOp::Ge => other.is_included_in(one),
            CompareOp::Gt => one != other && other.is_included_in(one),
        };
        Ok(answer.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// That of an equal frozenset.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        match self.0.is_infinite() {
            true => py.get_type::<PyInt>().call1((self.__int__(py)?,))?.hash(),
            false => PyFrozenSet::new(py, self.0.iter())?.hash(),
        }
    }

    /// The bits as an int; negative if the set is infinite.
    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let infinite = self.0.is_infinite();
        let words = self.0.words().iter().map(|word| if infinite { !word } else { *word });
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let number = py.get_type::<PyInt>().call_method1("from_bytes", (&bytes[..], "little"))?;
        if infinite { number.call_method0("__invert__") } else { Ok(number) }
    }

    fn __str__(&self) -> String {
        self.0.to_text(Format::List)
    }

    fn __repr__(&self) -> String {
        format!("Set('{}')", self.0.to_text(Format::List))
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_text(Format::Hwloc),)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// Iterator over the indexes of a set.
#[pyclass(frozen, module = "topobroker")]
pub(crate) struct Indexes {
    set: Set,
    /// The lowest index that may come next; [`u32::MAX`] at the end.
    next: AtomicU32,
}

#[pymethods]
impl Indexes {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self) -> Option<u32> {
        let index = self.set.next_from(self.next.load(Ordering::Relaxed));
        self.next.store(index.map_or(u32::MAX, |index| index + 1), Ordering::Relaxed);
        index
    }
}
