//! What calls of known globals make, and the storages that persistent ids name.

use lanecast_files::{Error, Result};

use super::{Global, Ref, Storage, Value, View, bad, machine::Machine, refused};

/// The most axes of a tensor, as in PyTorch.
const MAX_AXES: usize = 64;
/// The longest name of a storage. PyTorch names them by numbers.
const MAX_KEY: usize = 64;

impl Machine<'_> {
    /// The value that a call of a global makes.
    pub(super) fn call(&self, global: Global, args: &[Ref]) -> Result<Value> {
        let wrong = || bad(format!("the arguments of {global:?} are not those of PyTorch"));
        match (global, args) {
            (Global::OrderedDict, []) => Ok(Value::Dict(Vec::new())),
            (Global::Size, [axes]) => match self.value(*axes) {
                Value::Tuple(axes) | Value::List(axes) if axes.len() <= MAX_AXES => {
                    Ok(Value::Tuple(axes.clone()))
                }
                _ => Err(wrong()),
            },
            (Global::Rebuild(1), [_, _, _, _]) => self.view(args, None, None),
            (Global::Rebuild(2), [_, _, _, _, _, _]) => self.view(args, None, None),
            (Global::Rebuild(2), [_, _, _, _, _, _, state]) => self.view(args, None, Some(*state)),
            (Global::Rebuild(3), [_, _, _, _, _, _, dtype]) => self.view(args, Some(*dtype), None),
            (Global::Rebuild(3), [_, _, _, _, _, _, dtype, state]) => {
                self.view(args, Some(*dtype), Some(*state))
            }
            (Global::Parameter, [tensor, ..]) => match self.value(*tensor) {
                tensor @ Value::Tensor(_) => Ok(tensor.clone()),
                _ => Err(wrong()),
            },
            (Global::FromType, [function, class, args, ..]) => {
                let function = match (self.value(*function), self.value(*class)) {
                    // No function of these calls another, so that calls do not nest.
                    (
                        Value::Global(function @ (Global::Rebuild(_) | Global::Parameter)),
                        Value::Global(Global::Class),
                    ) => *function,
                    _ => return Err(wrong()),
                };
                let Value::Tuple(args) = self.value(*args) else { return Err(wrong()) };
                self.call(function, args)
            }
            _ => Err(wrong()),
        }
    }

    /// A tensor of the arguments storage, offset, shape, strides and others.
    fn view(&self, args: &[Ref], dtype: Option<Ref>, state: Option<Ref>) -> Result<Value> {
        let Value::Storage(storage) = self.value(args[0]) else {
            return Err(bad("a tensor has no storage"));
        };
        let place = |e: Error| e.at(format!("storage \"{}\"", storage.key));
        let dtype = match (dtype.map(|dtype| self.value(dtype)), storage.dtype) {
            (Some(Value::Global(Global::DType(dtype))), _) => *dtype,
            (None, Some(dtype)) => dtype,
            _ => return Err(place(bad("a tensor has no dtype"))),
        };
        if let Some(Value::Dict(entries)) = state.map(|state| self.value(state))
            && !entries.is_empty()
        {
            return Err(place(refused("a tensor is the conjugate or the negative of its storage")));
        }
        let offset = self.size(args[1]).map_err(place)?;
        let (shape, strides) = (self.sizes(args[2]).map_err(place)?, self.sizes(args[3]).map_err(place)?);
        if shape.len() != strides.len() {
            let what = format!("a tensor has {} axes and {} strides", shape.len(), strides.len());
            return Err(place(bad(what)));
        }
        let view = View { storage: storage.clone(), dtype, offset, shape, strides };
        view.check().map_err(place)?;
        Ok(Value::Tensor(Box::new(view)))
    }

    /// A number that counts elements.
    fn size(&self, of: Ref) -> Result<usize> {
        match self.value(of) {
            Value::Int(n) if *n < 0 => Err(bad(format!("a tensor has the size {n}"))),
            // What is too large for this machine is larger than any storage here.
            Value::Int(n) => Ok(usize::try_from(*n).unwrap_or(usize::MAX)),
            other => Err(bad(format!("a size of a tensor is {}", other.described()))),
        }
    }

    fn sizes(&self, of: Ref) -> Result<Vec<usize>> {
        match self.value(of) {
            Value::Tuple(axes) | Value::List(axes) if axes.len() <= MAX_AXES => {
                axes.iter().map(|axis| self.size(*axis)).collect()
            }
            Value::Tuple(axes) | Value::List(axes) => Err(bad(format!("a tensor has {} axes", axes.len()))),
            other => Err(bad(format!("the shape of a tensor is {}", other.described()))),
        }
    }

    /// The storage that a persistent id names: ("storage", class, key, device, elements).
    pub(super) fn storage(&self, id: Ref) -> Result<Storage> {
        let Value::Tuple(parts) = self.value(id) else { return Err(bad("a persistent id is no tuple")) };
        let parts: Vec<&Value> = parts.iter().map(|part| self.value(*part)).collect();
        let (class, key, device, elements) = match parts[..] {
            [Value::Text(kind), class, Value::Text(key), Value::Text(device), Value::Int(elements)]
            // Older files: the storage may be a view of another one.
            | [Value::Text(kind), class, Value::Text(key), Value::Text(device), Value::Int(elements), Value::None]
                if kind == "storage" =>
            {
                (class, key, device, *elements)
            }
            [Value::Text(kind), .., Value::Tuple(_)] if kind == "storage" && parts.len() == 6 => {
                return Err(refused("a storage is a view of another one, as PyTorch 0.3 saved them"));
            }
            _ => return Err(bad("a persistent id is not that of a storage")),
        };
        let place = |e: Error| e.at(format!("storage \"{key}\""));
        if key.len() > MAX_KEY {
            return Err(place(bad("the name of the storage is too long")));
        }
        if device == "meta" {
            return Err(place(refused("the storage is on the device \"meta\", which has no values")));
        }
        let Value::Global(Global::Storage(dtype)) = class else {
            return Err(place(bad(format!("the class of the storage is {}", class.described()))));
        };
        if elements < 0 {
            return Err(place(bad("the storage has a number of elements below zero")));
        }
        let elements = usize::try_from(elements).unwrap_or(usize::MAX);
        let storage = Storage { key: key.clone(), dtype: *dtype, elements };
        match storage.bytes() {
            Some(_) => Ok(storage),
            None => Err(place(bad("the storage is larger than memory could hold"))),
        }
    }
}

impl View {
    /// Fails unless the elements are in the storage, each at most once on average.
    fn check(&self) -> Result<()> {
        let have = self.storage.bytes().unwrap_or(0) / self.dtype.size();
        let shown = || format!("a tensor {:?} with the strides {:?}", self.shape, self.strides);
        let elements = self.shape.iter().try_fold(1_usize, |n, axis| n.checked_mul((*axis).max(1)));
        if self.shape.contains(&0) && elements.is_some() {
            return Ok(());
        }
        let span = self.span();
        if span.and_then(|span| span.checked_add(self.offset)).is_none_or(|end| end > have) {
            let what =
                format!("{} from element {} on is larger than its storage of {have}", shown(), self.offset);
            return Err(bad(what));
        }
        if elements.is_none_or(|n| n > have) {
            return Err(refused(format!("{} repeats elements of its storage", shown())));
        }
        Ok(())
    }

    /// The elements of the storage from the first to the last one of the tensor, which is not empty.
    pub(crate) fn span(&self) -> Option<usize> {
        let last = |end: usize, (axis, stride): (&usize, &usize)| {
            axis.saturating_sub(1).checked_mul(*stride).and_then(|n| n.checked_add(end))
        };
        self.shape.iter().zip(&self.strides).try_fold(0_usize, last)?.checked_add(1)
    }

    /// Whether the elements follow each other in C order.
    pub(crate) fn is_contiguous(&self) -> bool {
        let mut next = 1;
        self.shape.contains(&0)
            || self.shape.iter().zip(&self.strides).rev().all(|(axis, stride)| {
                let fits = *axis == 1 || *stride == next;
                next *= axis;
                fits
            })
    }
}
