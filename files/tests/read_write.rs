//! New files, and their tensors read back.

use crate::common;
use std::fs;

use crate::common::{Folder, field, model};
use lanecast::{DType, Encoding};
use lanecast_files::{Error, NewTensor, Place, TensorFile, save};

/// Sixteen elements of `dtype` as a format stores them.
fn bytes_of(buffer: Encoding) -> Vec<u8> {
    let bits = 16 * buffer.bits_per_element() as usize;
    (0..bits / 8).map(|i| if buffer.dtype() == DType::Bool { (i % 2) as u8 } else { i as u8 & 3 }).collect()
}

#[test]
fn every_dtype_is_written_and_read_back() {
    for (file, of) in [
        ("a.safetensors", Encoding::packed as fn(DType) -> Encoding),
        ("a.npz", Encoding::new),
        ("a.npy", Encoding::new),
    ] {
        let mut written = 0;
        for dtype in DType::ALL {
            let folder = Folder::new();
            let data = bytes_of(of(*dtype));
            let tensors = [NewTensor { name: "x", dtype: *dtype, shape: &[2, 8], data: &data }];
            match save(&folder.at(file), &tensors, &[], false) {
                Ok(()) => written += 1,
                Err(Error::Unsupported(_)) if file.ends_with("safetensors") => {
                    assert!(folder.names().is_empty());
                    continue;
                }
                Err(error) => panic!("{file}, {dtype}: {error}"),
            }
            let mut back = TensorFile::open(&folder.at(file)).unwrap();
            assert_eq!(back.read(0).unwrap(), data, "{file}, {dtype}");
            let tensor = &back.tensors()[0];
            assert_eq!(tensor.shape.as_deref(), Some(&[2, 8][..]));
            // NumPy's descriptors do not name the dtypes of ml_dtypes.
            let named =
                file == "a.safetensors" || lanecast::names::Namespace::MlDtypes.name(*dtype).is_none();
            assert_eq!(tensor.dtype(), named.then_some(*dtype), "{file}");
            if let Place::File(range) = &tensor.place {
                assert_eq!(&folder.read(file)[range.start as usize..range.end as usize], data);
            }
        }
        assert_eq!(written, if file == "a.safetensors" { 22 } else { DType::ALL.len() });
    }
}

#[test]
fn safetensors_are_what_the_reference_reads_and_writes() {
    let folder = Folder::new();
    let tensors = [
        NewTensor { name: "bytes", dtype: DType::UInt8, shape: &[3], data: &[1, 2, 3] },
        NewTensor { name: "b", dtype: DType::Float32, shape: &[1], data: &1.5_f32.to_le_bytes() },
        NewTensor { name: "a", dtype: DType::Float32, shape: &[], data: &2.5_f32.to_le_bytes() },
    ];
    save(&folder.at("x.st"), &tensors, &[("k".into(), "v".into())], false).unwrap();
    let bytes = folder.read("x.st");
    let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(read.tensor("bytes").unwrap().data(), [1, 2, 3]);
    let views = tensors.iter().map(|t| {
        let dtype = if t.dtype == DType::UInt8 { safetensors::Dtype::U8 } else { safetensors::Dtype::F32 };
        let shape = t.shape.iter().map(|dim| *dim as usize).collect();
        (t.name, safetensors::tensor::TensorView::new(dtype, shape, t.data).unwrap())
    });
    let metadata = [("k".to_owned(), "v".to_owned())].into();
    assert_eq!(safetensors::serialize(views, Some(metadata)).unwrap(), bytes);
    let file = TensorFile::open(&folder.at("x.st")).unwrap();
    assert_eq!(file.metadata(), [("k".to_owned(), "v".to_owned())]);
    assert_eq!((file.find("b"), file.find("c")), (Some(1), None));
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing() {
    let folder = Folder::new();
    let one = NewTensor { name: "x", dtype: DType::Float32, shape: &[1], data: &[0; 4] };
    let short = NewTensor { data: &[0; 3], ..one };
    let metadata = [("__metadata__", one)].map(|(name, of)| NewTensor { name, ..of });
    for (name, tensors, request) in [
        ("a.npy", &[one, one][..], false),
        ("a.onnx", &[one], false),
        ("a.txt", &[one], false),
        ("a.safetensors", &[one, one], true),
        ("a.safetensors", &metadata, true),
        ("a.safetensors", &[short], true),
        ("a.npy", &[short], true),
        ("a.npz", &[short], true),
        ("a.npz", &[one, one], false),
        ("a.safetensors", &[NewTensor { shape: &[u64::MAX, 4], ..one }], true),
    ] {
        let error = save(&folder.at(name), tensors, &[], false).unwrap_err();
        assert_eq!(matches!(error, Error::Request(_)), request, "{name}: {error}");
        assert!(folder.names().is_empty(), "{name}: {:?}", folder.names());
    }
}

#[test]
fn elements_are_read_from_wherever_a_model_has_them() {
    let folder = Folder::new();
    let data = common::floats(20);
    let key =
        |key: &str, value: &str| field(13, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat());
    let external = [key("location", "w.bin"), key("offset", "8"), common::number(14, 1)].concat();
    folder.write("w.bin", &[&[0; 8][..], &data].concat());
    for (elements, place) in [(field(9, &data), "File"), (field(4, &data), "Encoded"), (external, "External")]
    {
        let mut file = TensorFile::open(&folder.write("model", &model(20, &elements))).unwrap();
        assert!(format!("{:?}", file.tensors()[0].place).starts_with(place));
        assert_eq!(file.read(0).unwrap(), data, "{place}");
    }
    fs::remove_file(folder.at("w.bin")).unwrap();
    let mut file = TensorFile::open(&folder.at("model")).unwrap();
    assert!(matches!(file.read(0), Err(Error::Io(detail, _)) if detail.place.contains("w.bin")));
}

#[test]
fn a_damaged_member_is_not_read() {
    let folder = Folder::new();
    let data = common::floats(100);
    let tensors = [NewTensor { name: "x", dtype: DType::Float32, shape: &[100], data: &data }];
    save(&folder.at("x.npz"), &tensors, &[], false).unwrap();
    assert_eq!(TensorFile::open(&folder.at("x.npz")).unwrap().read(0).unwrap(), data);
    let mut bytes = folder.read("x.npz");
    let at = bytes.windows(8).position(|window| window == &data[392..]).unwrap();
    bytes[at] ^= 1;
    let error = TensorFile::open(&folder.write("bad.npz", &bytes)).unwrap().read(0).unwrap_err();
    assert!(
        matches!(&error, Error::Format(detail) if detail.place.ends_with("bad.npz, tensor \"x\"")),
        "{error}"
    );
}

#[test]
fn fields_of_structured_arrays_are_listed_and_not_read() {
    let folder = Folder::new();
    let literal = "{'descr': [('a', '<f4'), ('b', '>i2')], 'fortran_order': False, 'shape': (2,), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(literal.len() as u16).to_le_bytes());
    bytes.extend_from_slice(literal.as_bytes());
    bytes.extend_from_slice(&[0; 12]);
    let mut file = TensorFile::open(&folder.write("x", &bytes)).unwrap();
    let names: Vec<_> = file.tensors().iter().map(|t| (t.name.as_str(), t.place == Place::Field)).collect();
    assert_eq!(names, [("a", true), ("b", true)]);
    assert_eq!(file.tensors()[1].buffer.unwrap().order(), lanecast::ByteOrder::Big);
    assert!(matches!(file.read(0), Err(Error::Unsupported(_))));
}
