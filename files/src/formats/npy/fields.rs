//! Structured arrays: which fields are cast, and what becomes of the others.
//!
//! The rest of the program treats a field as a tensor: it has a name, a dtype and a shape, is selected by
//! them, and has an entry in the report. Fields that are not cast are copied in their byte order; padding is
//! written as zeros and counted nowhere.

use std::io::{Read, Write};

use lanecast::{
    ByteOrder, CastReport, DType, Encoding,
    structured::{FieldType, Match, StructError, StructPlan, StructType},
};

use super::header::{is_carrier, is_lossy};
use crate::{
    error::{Error, Result},
    formats::format::{Job, Place, TensorInfo, elements},
    pump::{Pump, Stopped},
    report::Entry,
    settings::Settings,
};

/// The largest item in bytes. Each item is held in memory as a whole, and real files have none as large as this.
const LARGEST_ITEM: usize = 1 << 28;

/// A field that is not itself a struct.
struct Leaf<'a> {
    /// Its name, preceded by the names of the structs that contain it.
    path: String,
    kind: &'a FieldType,
    /// The shape of the array and of the sub-arrays.
    shape: Vec<u64>,
}

impl Leaf<'_> {
    fn elements(&self) -> u64 {
        elements(&self.shape).unwrap_or(u64::MAX)
    }

    fn bytes(&self) -> u64 {
        self.elements().saturating_mul(self.kind.size() as u64)
    }
}

fn leaves<'a>(of: &'a StructType, path: &str, shape: &[u64], out: &mut Vec<Leaf<'a>>) {
    for field in of.fields() {
        let path = qualified(path, field.name());
        let mut shape = shape.to_vec();
        shape.extend(field.shape().iter().map(|dim| *dim as u64));
        match field.kind() {
            FieldType::Struct(of) => leaves(of, &path, &shape, out),
            kind => out.push(Leaf { path, kind, shape }),
        }
    }
}

/// The qualified name of a field of the array or struct `outer`, whose name may be empty.
pub fn qualified(outer: &str, field: &str) -> String {
    if outer.is_empty() { field.to_owned() } else { format!("{outer}.{field}") }
}

/// The type of a field, in words.
fn shown(kind: &FieldType) -> String {
    match kind {
        FieldType::Element(buffer) => buffer.dtype().name().to_owned(),
        other => other.descr().unwrap_or_default().trim_matches('\'').to_owned(),
    }
}

/// The fields of the array `name` as tensors. `name` may be empty.
pub fn listed(name: &str, of: &StructType, shape: &[u64], fortran_order: bool) -> Vec<TensorInfo> {
    let mut found = Vec::new();
    leaves(of, name, shape, &mut found);
    let listed = found.into_iter().map(|leaf| TensorInfo {
        elements: Some(leaf.elements()),
        bytes: leaf.bytes(),
        buffer: match leaf.kind {
            FieldType::Element(buffer) => Some(*buffer),
            _ => None,
        },
        described: shown(leaf.kind),
        fortran_order,
        place: Place::Field,
        compression: None,
        name: leaf.path,
        shape: Some(leaf.shape),
    });
    listed.collect()
}

/// A structured array and what is made of it.
#[derive(Clone, Debug)]
pub struct Struct {
    plan: StructPlan,
    from: StructType,
    to: StructType,
    entries: Vec<Entry>,
    items: u64,
}

impl Struct {
    /// Decides what the job does to the array `name` of the type `of`; `None` if it casts no field.
    pub fn new(job: &Job, name: &str, of: &StructType, shape: &[u64]) -> Result<Option<Self>> {
        let refused = |error: StructError| Error::unsupported(error.to_string());
        let asked = job.selection.source();
        // The selection says which dtype is held by bytes, and by integers that an include names.
        let from = of
            .viewed_as(|path, kind| match (kind, asked) {
                (FieldType::Void(size), Some(from)) if is_lossy(from) && from.size() == *size => {
                    Encoding::new(from).with_order(ByteOrder::Little).into()
                }
                (FieldType::Element(of), Some(from))
                    if is_lossy(from)
                        && is_carrier(of.dtype())
                        && from.size() == of.dtype().size()
                        && names_explicitly(job, name, path) =>
                {
                    Encoding::new(from).with_order(of.order()).into()
                }
                _ => kind.clone(),
            })
            .map_err(refused)?;
        let chosen = |path: &str, kind: &FieldType| match kind {
            FieldType::Element(of) => job.selection.chooses_dtype(of.dtype()) && allows(job, name, path),
            _ => false,
        };
        let mut found = Vec::new();
        leaves(&from, "", shape, &mut found);
        if !found.iter().any(|leaf| chosen(&leaf.path, leaf.kind)) {
            return Ok(None);
        }
        let target = Encoding::new(job.to).with_order(ByteOrder::Little);
        // Fields are visited in the same order as the leaves.
        let mut held = found.iter().map(|leaf| leaf.kind);
        let to = of
            .with_kinds(|path, kind| match held.next() {
                Some(kind) if chosen(path, kind) => target.into(),
                Some(kind) => kind.clone(),
                None => kind.clone(),
            })
            .map_err(refused)?;
        let largest = from.item_size().max(to.item_size());
        if largest > LARGEST_ITEM {
            return Err(Error::unsupported(format!("items of {largest} bytes are too large")));
        }
        let items = elements(shape).unwrap_or(u64::MAX);
        if items.checked_mul(to.item_size() as u64).is_none_or(|bytes| i64::try_from(bytes).is_err()) {
            return Err(Error::unsupported(format!("{items} items are more than a file can hold")));
        }
        let Settings { options, tier, .. } = &job.settings;
        let plan = StructPlan::with_tier(&from, &to, Match::Position, options, *tier).map_err(refused)?;
        let entries = found.iter().map(|leaf| {
            let to = chosen(&leaf.path, leaf.kind).then_some(job.to);
            let size = to.map_or(leaf.kind.size(), DType::size);
            Entry {
                name: qualified(name, &leaf.path),
                from: shown(leaf.kind),
                to: to.map(|to| to.name().to_owned()),
                shape: Some(leaf.shape.clone()),
                elements: Some(leaf.elements()),
                bytes_in: leaf.bytes(),
                bytes_out: leaf.elements().saturating_mul(size as u64),
                kept: None,
                counts: None,
            }
        });
        Ok(Some(Self { plan, entries: entries.collect(), from, to, items }))
    }

    /// The entries of the fields in the report.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The new descriptor.
    pub fn descr(&self) -> Result<String> {
        // NumPy writes `<f1` for float8_e5m2 and does not load it.
        let loadable = self.to.with_kinds(|_, kind| match kind {
            FieldType::Element(of) if of.dtype() == DType::Float8E5M2 => FieldType::Void(1),
            kind => kind.clone(),
        });
        let descr = loadable.and_then(|to| to.descr());
        descr.map_err(|error| Error::unsupported(error.to_string()))
    }

    /// The size of the new data in bytes.
    pub fn bytes_out(&self) -> u64 {
        self.items.saturating_mul(self.to.item_size() as u64)
    }

    /// Casts the data; `reader` is positioned at its start. Returns the counts of losses for each entry that
    /// is cast.
    pub fn transfer(
        &self,
        job: &Job,
        pump: &mut Pump<'_>,
        reader: &mut dyn Read,
        writer: &mut dyn Write,
    ) -> std::result::Result<Vec<Option<CastReport>>, Stopped> {
        let on_loss = job.settings.on_loss;
        let plan = self.plan.checked(on_loss.counts());
        let mut reports = vec![CastReport::default(); self.plan.casts().count()];
        let sizes = (self.from.item_size(), self.to.item_size());
        pump.items(sizes, self.items, reader, writer, |source, result, n, before| {
            let refused = |error| refusal(error, before);
            for (sum, report) in reports.iter_mut().zip(plan.run_counted(source, result, n).map_err(refused)?)
            {
                if let Some(level) = on_loss.refuses(&report) {
                    self.plan.checked(level).run(source, result, n).map_err(refused)?;
                }
                *sum = sum.and(&report);
            }
            Ok(())
        })?;
        for report in &reports {
            job.settings.check_underflow(report, job.to).map_err(Stopped::Refused)?;
        }
        // The casts of the plan are the fields of elements, in the same order.
        let mut found = Vec::new();
        leaves(&self.to, "", &[], &mut found);
        let mut reports = reports.into_iter();
        let counts = found.iter().zip(&self.entries).map(|(leaf, entry)| {
            let report = if matches!(leaf.kind, FieldType::Element(_)) { reports.next() } else { None };
            report.filter(|_| entry.to.is_some())
        });
        Ok(counts.collect())
    }
}

/// Converts an error of the library that occurred after `before` items.
fn refusal(error: StructError, before: u64) -> Stopped {
    let what = match error {
        StructError::Rejected { field, item, rejection } => {
            let item = before + item as u64;
            let rejection =
                StructError::Rejected { field, item: usize::try_from(item).unwrap_or(usize::MAX), rejection };
            Error::loss(rejection.to_string())
        }
        other => Error::unsupported(other.to_string()),
    };
    Stopped::Refused(what)
}

/// Whether the patterns allow a field of the array `name`, by its own name or by the array's.
fn allows(job: &Job, name: &str, path: &str) -> bool {
    let full = qualified(name, path);
    let named = |set: &dyn Fn(&str) -> bool| set(&full) || !name.is_empty() && set(name);
    let selection = &job.selection;
    (!selection.has_include() || named(&|of| selection.includes(of))) && !named(&|of| selection.excludes(of))
}

/// Whether an include names the field, and nothing excludes it.
fn names_explicitly(job: &Job, name: &str, path: &str) -> bool {
    job.selection.has_include() && allows(job, name, path)
}
