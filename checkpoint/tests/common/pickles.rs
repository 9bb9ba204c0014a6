//! Pickles and files of PyTorch made by hand, opcode by opcode.

use std::{fs::File, io::Write, path::Path};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Opcodes that push one value.
pub type Code = Vec<u8>;

pub fn text(text: &str) -> Code {
    [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

pub fn int(n: i32) -> Code {
    [&b"J"[..], &n.to_le_bytes()].concat()
}

pub fn long(n: i64) -> Code {
    [&b"\x8a\x08"[..], &n.to_le_bytes()].concat()
}

pub fn tuple(items: &[Code]) -> Code {
    [&b"("[..], &items.concat(), b"t"].concat()
}

pub fn ints(items: &[i64]) -> Code {
    tuple(&items.iter().copied().map(long).collect::<Vec<_>>())
}

pub fn global(module: &str, name: &str) -> Code {
    format!("c{module}\n{name}\n").into_bytes()
}

pub fn call(module: &str, name: &str, args: &[Code]) -> Code {
    [global(module, name), tuple(args), b"R".to_vec()].concat()
}

pub fn dict(entries: &[(&str, Code)]) -> Code {
    let entries: Vec<u8> =
        entries.iter().flat_map(|(key, value)| [text(key), value.clone()].concat()).collect();
    [&b"}("[..], &entries, b"u"].concat()
}

pub fn storage(class: &str, key: &str, elements: i64) -> Code {
    let id = tuple(&[text("storage"), global("torch", class), text(key), text("cpu"), long(elements)]);
    [id, b"Q".to_vec()].concat()
}

/// A tensor of a storage: its first element, shape and strides.
pub fn tensor(storage: Code, offset: i64, shape: &[i64], strides: &[i64]) -> Code {
    let hooks = call("collections", "OrderedDict", &[]);
    let args = [storage, long(offset), ints(shape), ints(strides), b"\x89".to_vec(), hooks];
    call("torch._utils", "_rebuild_tensor_v2", &args)
}

/// The pickle of a value.
pub fn pickle(value: &[u8]) -> Vec<u8> {
    [&b"\x80\x02"[..], value, b"."].concat()
}

/// Writes an archive.
pub fn archive(path: &Path, method: CompressionMethod, members: &[(&str, &[u8])]) {
    let mut zip = ZipWriter::new(File::create(path).expect("a file"));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).expect("a member");
        zip.write_all(bytes).expect("bytes");
    }
    zip.finish().expect("an archive");
}

/// Writes a file of PyTorch with a value and storages.
pub fn torch_file(path: &Path, value: &[u8], storages: &[(&str, &[u8])]) {
    let pickle = pickle(value);
    let names: Vec<String> = storages.iter().map(|(key, _)| format!("m/data/{key}")).collect();
    let mut members = vec![("m/data.pkl", &pickle[..]), ("m/byteorder", b"little")];
    members.extend(names.iter().zip(storages).map(|(name, (_, bytes))| (name.as_str(), *bytes)));
    archive(path, CompressionMethod::Stored, &members);
}

/// A `.npy` array: descriptor, whether it is in Fortran order, shape and data.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let descr = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    [&b"\x93NUMPY\x01\0"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
}
