//! The machine that reads the opcodes of a pickle.

use std::{
    collections::HashMap,
    io::{self, Read},
};

use lanecast_files::{Error, Result};

use super::{Global, Ref, Value, Values, bad, refused};

/// The most bytes of a pickle. A tensor of a state dict takes about 200.
const MAX_BYTES: u64 = 1 << 26;
/// The most values. A tensor of a state dict takes about 20.
const MAX_VALUES: usize = 1 << 22;
/// The most values that are pushed, those that are fetched again included.
const MAX_PUSHES: usize = 1 << 24;
/// The most tensors.
const MAX_TENSORS: usize = 1 << 18;
/// The longest line of a text opcode.
const MAX_LINE: usize = 1 << 12;
/// The newest protocol.
const MAX_PROTOCOL: u8 = 5;

pub(super) struct Machine<'r> {
    input: &'r mut dyn Read,
    /// Bytes that were read.
    bytes: u64,
    pushes: usize,
    tensors: usize,
    arena: Vec<Value>,
    stack: Vec<Ref>,
    /// The heights of the stack at its marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Ref>,
    storages: HashMap<String, super::Storage>,
}

impl<'r> Machine<'r> {
    pub(super) fn new(input: &'r mut dyn Read) -> Self {
        Self {
            input,
            bytes: 0,
            pushes: 0,
            tensors: 0,
            arena: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            storages: HashMap::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<Values> {
        loop {
            let opcode = self.byte()?;
            if opcode == b'.' {
                break;
            }
            self.step(opcode)?;
        }
        let root = self.pop()?;
        Ok(Values { arena: self.arena, root, bytes: self.bytes, storages: self.storages })
    }

    fn step(&mut self, opcode: u8) -> Result<()> {
        match opcode {
            // PROTO, FRAME
            0x80 => match self.byte()? {
                0..=MAX_PROTOCOL => Ok(()),
                protocol => Err(refused(format!("pickles of the protocol {protocol} are not read"))),
            },
            0x95 => self.number::<8>().map(drop),
            b'(' => {
                self.count_push()?;
                self.marks.push(self.stack.len());
                Ok(())
            }
            // POP, POP_MARK, DUP
            b'0' => self.pop().map(drop),
            b'1' => self.pop_mark().map(drop),
            b'2' => {
                let top = self.top()?;
                self.push(top)
            }
            b'N' => self.push_value(Value::None),
            0x88 => self.push_value(Value::Bool(true)),
            0x89 => self.push_value(Value::Bool(false)),
            // BININT, BININT1, BININT2, LONG1, LONG4
            b'J' => {
                let n = i32::from_le_bytes(self.number()?);
                self.push_value(Value::Int(n.into()))
            }
            b'K' => {
                let n = self.byte()?;
                self.push_value(Value::Int(n.into()))
            }
            b'M' => {
                let n = u16::from_le_bytes(self.number()?);
                self.push_value(Value::Int(n.into()))
            }
            0x8A => {
                let n = self.byte()?;
                self.long(n.into())
            }
            0x8B => {
                let n = self.length::<4>()?;
                self.long(n)
            }
            // BINFLOAT
            b'G' => {
                self.number::<8>()?;
                self.push_value(Value::Other("a float"))
            }
            // BINUNICODE, SHORT_BINUNICODE, BINUNICODE8, and the strings of Python 2: SHORT_BINSTRING, BINSTRING
            b'X' | b'T' => self.text::<4>(),
            0x8C | b'U' => self.text::<1>(),
            0x8D => self.text::<8>(),
            // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
            b'C' => self.skipped::<1>(),
            b'B' => self.skipped::<4>(),
            0x8E | 0x96 => self.skipped::<8>(),
            // Tuples
            b')' => self.push_value(Value::Tuple(Vec::new())),
            b't' => {
                let items = self.pop_mark()?;
                self.push_value(Value::Tuple(items))
            }
            0x85..=0x87 => {
                let mut items = Vec::new();
                for _ in 0x84..opcode {
                    items.push(self.pop()?);
                }
                items.reverse();
                self.push_value(Value::Tuple(items))
            }
            // Lists: EMPTY_LIST, LIST, APPEND, APPENDS
            b']' => self.push_value(Value::List(Vec::new())),
            b'l' => {
                let items = self.pop_mark()?;
                self.push_value(Value::List(items))
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])
            }
            b'e' => {
                let items = self.pop_mark()?;
                self.append(&items)
            }
            // Dictionaries: EMPTY_DICT, DICT, SETITEM, SETITEMS
            b'}' => self.push_value(Value::Dict(Vec::new())),
            b'd' => {
                let items = self.pop_mark()?;
                self.push_value(Value::Dict(Vec::new()))?;
                self.set(&items)
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(&[key, value])
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set(&items)
            }
            // Sets: EMPTY_SET, ADDITEMS, FROZENSET
            0x8F => self.push_value(Value::Other("a set")),
            0x90 => self.pop_mark().map(drop),
            0x91 => {
                self.pop_mark()?;
                self.push_value(Value::Other("a set"))
            }
            // GLOBAL, STACK_GLOBAL
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(&module, &name)
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (self.value(module), self.value(name)) {
                    (Value::Text(module), Value::Text(name)) => {
                        let (module, name) = (module.clone(), name.clone());
                        self.global(&module, &name)
                    }
                    _ => Err(bad("the name of a global is no text")),
                }
            }
            // REDUCE, BUILD
            b'R' => {
                let (args, function) = (self.pop()?, self.pop()?);
                let (Value::Global(global), Value::Tuple(args)) = (self.value(function), self.value(args))
                else {
                    return Err(bad(format!("the pickle calls {}", self.value(function).described())));
                };
                let value = self.call(*global, args)?;
                self.tensors += usize::from(matches!(value, Value::Tensor(_)));
                if self.tensors > MAX_TENSORS {
                    return Err(bad(format!("the pickle has more than {MAX_TENSORS} tensors")));
                }
                self.push_value(value)
            }
            b'b' => {
                // The attributes of an ordered dictionary or of a parameter are no tensors of the model.
                self.pop()?;
                match self.value(self.top()?) {
                    Value::Dict(_) | Value::Tensor(_) => Ok(()),
                    other => Err(bad(format!("the pickle sets attributes of {}", other.described()))),
                }
            }
            // BINPERSID
            b'Q' => {
                let id = self.pop()?;
                let storage = self.storage(id)?;
                if let Some(other) = self.storages.insert(storage.key.clone(), storage.clone())
                    && other.bytes() != storage.bytes()
                {
                    return Err(bad(format!("the storage \"{}\" has two sizes", storage.key)));
                }
                self.push_value(Value::Storage(storage))
            }
            // BINPUT, LONG_BINPUT, MEMOIZE, BINGET, LONG_BINGET
            b'q' => {
                let place = self.byte()?;
                self.put(place.into())
            }
            b'r' => {
                let place = u32::from_le_bytes(self.number()?);
                self.put(place)
            }
            0x94 => self.put(self.memo.len() as u32),
            b'h' => {
                let place = self.byte()?;
                self.fetch(place.into())
            }
            b'j' => {
                let place = u32::from_le_bytes(self.number()?);
                self.fetch(place)
            }
            // OBJ, INST, NEWOBJ, NEWOBJ_EX, EXT1, EXT2, EXT4, PERSID and those of protocol 0
            0x81 | 0x92 | b'o' | b'i' | 0x82..=0x84 => {
                let what =
                    format!("the pickle makes an object of a class (opcode {opcode:#04x}); nothing was run");
                Err(refused(what))
            }
            _ => Err(bad(format!("the pickle has the unknown opcode {opcode:#04x}"))),
        }
    }

    pub(super) fn value(&self, of: Ref) -> &Value {
        &self.arena[of]
    }

    fn count_push(&mut self) -> Result<()> {
        self.pushes += 1;
        match self.pushes > MAX_PUSHES {
            true => Err(bad(format!("the pickle pushes more than {MAX_PUSHES} values"))),
            false => Ok(()),
        }
    }

    fn push(&mut self, of: Ref) -> Result<()> {
        self.count_push()?;
        self.stack.push(of);
        Ok(())
    }

    fn push_value(&mut self, value: Value) -> Result<()> {
        if self.arena.len() == MAX_VALUES {
            return Err(bad(format!("the pickle has more than {MAX_VALUES} values")));
        }
        self.arena.push(value);
        self.push(self.arena.len() - 1)
    }

    /// The value on top of the stack, above the last mark.
    fn top(&self) -> Result<Ref> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let top = self.stack.last().filter(|_| self.stack.len() > floor);
        top.copied().ok_or_else(|| bad("the pickle takes a value that it has not pushed"))
    }

    fn pop(&mut self) -> Result<Ref> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    /// The values above the last mark.
    fn pop_mark(&mut self) -> Result<Vec<Ref>> {
        let mark = self.marks.pop().ok_or_else(|| bad("the pickle has no mark where it needs one"))?;
        Ok(self.stack.split_off(mark))
    }

    fn append(&mut self, items: &[Ref]) -> Result<()> {
        let top = self.top()?;
        match &mut self.arena[top] {
            Value::List(list) => {
                list.extend(items);
                Ok(())
            }
            other => Err(bad(format!("the pickle appends to {}", other.described()))),
        }
    }

    fn set(&mut self, items: &[Ref]) -> Result<()> {
        let top = self.top()?;
        let (pairs, rest) = items.as_chunks();
        match &mut self.arena[top] {
            Value::Dict(dict) if rest.is_empty() => {
                dict.extend(pairs.iter().map(|[key, value]| (*key, *value)));
                Ok(())
            }
            other => Err(bad(format!("the pickle sets an item of {}", other.described()))),
        }
    }

    fn put(&mut self, place: u32) -> Result<()> {
        let top = self.top()?;
        if self.memo.len() == MAX_VALUES {
            return Err(bad(format!("the pickle remembers more than {MAX_VALUES} values")));
        }
        self.memo.insert(place, top);
        Ok(())
    }

    fn fetch(&mut self, place: u32) -> Result<()> {
        let found = self.memo.get(&place).copied();
        self.push(found.ok_or_else(|| bad(format!("the pickle remembers nothing at {place}")))?)
    }

    fn global(&mut self, module: &str, name: &str) -> Result<()> {
        match Global::find(module, name) {
            Some(global) => self.push_value(Value::Global(global)),
            None => Err(refused(format!(
                "the pickle names the global \"{module}.{name}\", which a state dict does not need; nothing was run"
            ))),
        }
    }

    /// An integer of a number of bytes.
    fn long(&mut self, n: u64) -> Result<()> {
        let bytes = self.read(n)?;
        // The sign fills the missing bytes.
        let sign = if bytes.last().is_some_and(|last| last >> 7 == 1) { 0xFF } else { 0 };
        let mut all = [sign; 8];
        let value = match all.get_mut(..bytes.len()) {
            Some(low) => {
                low.copy_from_slice(&bytes);
                Value::Int(i64::from_le_bytes(all))
            }
            None => Value::Other("an integer of more than 64 bits"),
        };
        self.push_value(value)
    }

    /// A text whose length has `N` bytes.
    fn text<const N: usize>(&mut self) -> Result<()> {
        let n = self.length::<N>()?;
        let text = String::from_utf8(self.read(n)?);
        self.push_value(text.map_or(Value::Other("bytes"), Value::Text))
    }

    /// Bytes, whose length has `N` bytes.
    fn skipped<const N: usize>(&mut self) -> Result<()> {
        let n = self.length::<N>()?;
        self.read(n)?;
        self.push_value(Value::Other("bytes"))
    }

    fn length<const N: usize>(&mut self) -> Result<u64> {
        let bytes: [u8; N] = self.number()?;
        Ok(bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
    }

    /// The text up to the end of a line.
    fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        loop {
            match self.byte()? {
                b'\n' => return String::from_utf8(line).map_err(|_| bad("the name of a global is no text")),
                _ if line.len() == MAX_LINE => return Err(bad("the pickle has a line that is too long")),
                byte => line.push(byte),
            }
        }
    }

    fn byte(&mut self) -> Result<u8> {
        self.number::<1>().map(|[byte]| byte)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N as u64)?;
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|e| ends(&e))?;
        Ok(bytes)
    }

    /// The next bytes. A hostile length allocates no more than there is.
    fn read(&mut self, n: u64) -> Result<Vec<u8>> {
        self.take(n)?;
        let mut bytes = Vec::new();
        let read = (&mut *self.input).take(n).read_to_end(&mut bytes).map_err(|e| Error::reading(&e))?;
        if read as u64 == n { Ok(bytes) } else { Err(bad("the pickle ends early")) }
    }

    fn take(&mut self, n: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(n);
        match self.bytes > MAX_BYTES {
            true => Err(bad(format!("the pickle has more than {MAX_BYTES} bytes"))),
            false => Ok(()),
        }
    }
}

/// The error of a read that failed.
fn ends(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => bad("the pickle ends early"),
        _ => Error::reading(error),
    }
}
