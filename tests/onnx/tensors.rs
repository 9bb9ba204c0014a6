//! Tensors in every field; and the refusals.

use super::{bytes, element};
use crate::support::{data::rows, rng::Rng};
use lanecast::onnx::{Contents, DataField, ElementType, Payload, TensorError, TypedData, elements};
use lanecast::*;

/// The entries of a field, owned.
#[derive(Debug, Default)]
struct Entries {
    float: Vec<f32>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    double: Vec<f64>,
    uint64: Vec<u64>,
    string: Vec<Vec<u8>>,
}

impl Entries {
    fn new(field: &str, text: &str) -> (DataField, Self) {
        fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
            let parse = |word: &str| word.parse().unwrap_or_else(|_| panic!("{word:?}"));
            text.split(' ').filter(|_| text != "-").map(parse).collect()
        }
        let bits = |text: &str| -> Vec<u64> {
            let hex = |word: &str| u64::from_str_radix(word, 16).unwrap_or_else(|e| panic!("{word:?}: {e}"));
            text.split(' ').filter(|_| text != "-").map(hex).collect()
        };
        let mut all = Entries::default();
        let field = match field {
            "float_data" => {
                all.float = bits(text).into_iter().map(|x| f32::from_bits(x as u32)).collect();
                DataField::Float
            }
            "double_data" => {
                all.double = bits(text).into_iter().map(f64::from_bits).collect();
                DataField::Double
            }
            "int32_data" => {
                all.int32 = numbers(text);
                DataField::Int32
            }
            "int64_data" => {
                all.int64 = numbers(text);
                DataField::Int64
            }
            "uint64_data" => {
                all.uint64 = numbers(text);
                DataField::UInt64
            }
            "string_data" => {
                // An empty text alone is a dash among others; no text at all is one, too.
                all.string = text.split(' ').map(bytes).collect();
                DataField::String
            }
            _ => panic!("{field}"),
        };
        (field, all)
    }

    fn payload(&self, code: i32, elements: usize) -> Payload<'_> {
        Payload {
            float_data: &self.float,
            int32_data: &self.int32,
            int64_data: &self.int64,
            double_data: &self.double,
            uint64_data: &self.uint64,
            string_data: &self.string,
            ..Payload::new(code, elements)
        }
    }
}

#[test]
fn tensors_of_onnx_in_every_field() {
    let mut tested = 0;
    for row in &rows(include_str!("../data/onnx_tensors.tsv"))[1..] {
        let [name, n, raw, field, entries] = row[..] else { panic!("{row:?}") };
        let n: usize = n.parse().expect("a number");
        let (field, mut entries) = Entries::new(field, entries);
        entries.string.truncate(n);
        let element = element(name);
        let code = element.code().expect("of ONNX");
        assert_eq!(DataField::of(element), Some(field), "{name}");
        let payload = entries.payload(code, n);
        let contents = payload.read().unwrap_or_else(|e| panic!("{name} {n}: {e}"));
        match (contents, element) {
            (Contents::Strings(texts), ElementType::String) => assert_eq!(texts, &entries.string[..]),
            (Contents::Numbers(dtype, packed), ElementType::Number(expected)) => {
                let raw = bytes(raw);
                assert_eq!((dtype, &*packed), (expected, &raw[..]), "{name} {n}");
                let payload = Payload { raw_data: Some(&raw), ..Payload::<Vec<u8>>::new(code, n) };
                let Ok(Contents::Numbers(_, same)) = payload.read() else { panic!("{name} {n}") };
                assert!(matches!(same, std::borrow::Cow::Borrowed(_)));
                assert_eq!(*same, raw);
                let typed = TypedData::new(dtype, n, &raw).expect("a tensor");
                let right = match &typed {
                    TypedData::Float(data) => *data == entries.float,
                    TypedData::Double(data) => *data == entries.double,
                    TypedData::Int32(data) => *data == entries.int32,
                    TypedData::Int64(data) => *data == entries.int64,
                    TypedData::UInt64(data) => *data == entries.uint64,
                };
                assert!(right, "{name} {n}: {typed:?}");
            }
            (contents, _) => panic!("{name} {n}: {contents:?}"),
        }
        tested += 1;
    }
    assert_eq!(tested, 28 * 4);
}

/// Any codes, NaNs and padding bits among them, go through the typed field unchanged.
#[test]
fn typed_fields_keep_every_code() {
    let mut rng = Rng(4);
    for dtype in (1..=28).filter_map(ElementType::from_code).filter_map(ElementType::dtype) {
        let code = ElementType::from(dtype).code().expect("of ONNX");
        for n in 0..50 {
            let buffer = Encoding::packed(dtype);
            let mut raw = vec![0; buffer.byte_len(n).expect("small")];
            raw.iter_mut().for_each(|byte| *byte = rng.bits() as u8);
            let typed = TypedData::new(dtype, n, &raw).expect("a tensor");
            let mut payload = Payload::<Vec<u8>>::new(code, n);
            match &typed {
                TypedData::Float(data) => payload.float_data = data,
                TypedData::Double(data) => payload.double_data = data,
                TypedData::Int32(data) => payload.int32_data = data,
                TypedData::Int64(data) => payload.int64_data = data,
                TypedData::UInt64(data) => payload.uint64_data = data,
            }
            let Ok(Contents::Numbers(_, packed)) = payload.read() else { panic!("{dtype} {n}") };
            // As a cast to itself: bool becomes 0 or 1, unused bits 0.
            let mut expected = vec![0; raw.len()];
            CastPlan::new(buffer, buffer, &CastOptions::ONNX)
                .expect("a plan")
                .run(lanecast::Bytes::new(&raw, n), lanecast::BytesMut::new(&mut expected, n))
                .expect("room");
            assert_eq!(*packed, expected, "{dtype} {n}");
        }
    }
}

fn error(payload: Payload<'_>) -> TensorError {
    match payload.read() {
        Ok(contents) => panic!("{payload:?}: {contents:?}"),
        Err(error) => error,
    }
}

#[test]
fn bad_tensors() {
    let new = Payload::<Vec<u8>>::new;
    let raw = |code, n, raw| error(Payload { raw_data: Some(raw), ..new(code, n) });
    assert_eq!(raw(1, 2, &[0; 7]), TensorError::Length { field: DataField::Raw, need: 8, have: 7 });
    assert_eq!(raw(1, 2, &[0; 9]), TensorError::Length { field: DataField::Raw, need: 8, have: 9 });
    assert_eq!(raw(22, 3, &[0; 3]), TensorError::Length { field: DataField::Raw, need: 2, have: 3 });
    assert_eq!(raw(1, usize::MAX, &[]), TensorError::TooLarge);
    assert_eq!(raw(0, 1, &[0]), TensorError::UnknownCode(0));
    assert_eq!(raw(29, 1, &[0]), TensorError::UnknownCode(29));
    assert_eq!(raw(i32::MIN, 1, &[0]), TensorError::UnknownCode(i32::MIN));
    let (element, field) = (ElementType::String, DataField::Raw);
    assert_eq!(raw(8, 1, &[0]), TensorError::WrongField { element, field });

    assert_eq!(error(new(1, 1)), TensorError::Length { field: DataField::Float, need: 1, have: 0 });
    assert_eq!(error(new(8, 1)), TensorError::Length { field: DataField::String, need: 1, have: 0 });
    let floats = |code, n, data| error(Payload { float_data: data, ..new(code, n) });
    assert_eq!(floats(1, 2, &[0.0; 3]), TensorError::Length { field: DataField::Float, need: 2, have: 3 });
    assert_eq!(floats(14, 2, &[0.0; 3]), TensorError::Length { field: DataField::Float, need: 4, have: 3 });
    assert_eq!(floats(14, usize::MAX, &[]), TensorError::TooLarge);
    let (element, field) = (ElementType::Number(DType::Float64), DataField::Float);
    assert_eq!(floats(11, 1, &[0.0]), TensorError::WrongField { element, field });
    let two = Payload { raw_data: Some(&[0; 4]), float_data: &[0.0], ..new(1, 1) };
    assert_eq!(error(two), TensorError::Two(DataField::Raw, DataField::Float));
    // An empty raw_data that is there counts.
    let two = Payload { raw_data: Some(&[]), float_data: &[0.0], ..new(1, 1) };
    assert_eq!(error(two), TensorError::Two(DataField::Raw, DataField::Float));
    let two = Payload { int64_data: &[1], int32_data: &[1], ..new(6, 1) };
    assert_eq!(error(two), TensorError::Two(DataField::Int32, DataField::Int64));

    let range = |dtype, field, entry| TensorError::Range { dtype, field, entry };
    for (dtype, outside) in [
        (DType::Bool, [-1, 2]),
        (DType::Int8, [-129, 128]),
        (DType::UInt8, [-1, 256]),
        (DType::Int16, [-32769, 32768]),
        (DType::UInt16, [-1, 65536]),
        (DType::Float16, [-1, 65536]),
        (DType::BFloat16, [-1, 65536]),
        (DType::Float8E5M2, [-1, 256]),
        (DType::Float8E8M0FNU, [-1, 256]),
        (DType::Float6E2M3FN, [-1, 64]),
    ] {
        for value in outside {
            let data = [0, 1, value];
            let payload =
                Payload { int32_data: &data, ..new(ElementType::from(dtype).code().expect("of ONNX"), 3) };
            assert_eq!(error(payload), range(dtype, DataField::Int32, 2), "{dtype} {value}");
        }
    }
    for (dtype, n) in [(DType::Int4, 4), (DType::UInt2, 8), (DType::Float4E2M1FN, 3)] {
        let payload =
            Payload { int32_data: &[0xFF, 256], ..new(ElementType::from(dtype).code().expect("of ONNX"), n) };
        assert_eq!(error(payload), range(dtype, DataField::Int32, 1));
    }
    let payload = Payload { uint64_data: &[u64::from(u32::MAX), 1 << 32], ..new(12, 2) };
    assert_eq!(error(payload), range(DType::UInt32, DataField::UInt64, 1));
    assert_eq!(error(payload).to_string(), "uint64_data[1] is out of the range of uint32");

    assert_eq!(TypedData::new(DType::Float8E3M4, 1, &[0]), Err(TensorError::NotInOnnx(DType::Float8E3M4)));
    let length = TensorError::Length { field: DataField::Raw, need: 3, have: 2 };
    assert_eq!(TypedData::new(DType::Float6E2M3FN, 4, &[0; 2]), Err(length));
    assert_eq!(TypedData::new(DType::Int64, usize::MAX, &[]), Err(TensorError::TooLarge));
}

#[test]
fn dimensions() {
    assert_eq!(elements(&[]), Ok(1));
    assert_eq!(elements(&[3, 4, 5]), Ok(60));
    assert_eq!(elements(&[i64::MAX, i64::MAX, 0]), Ok(0));
    assert_eq!(elements(&[1 << 40, 1 << 40]), Err(TensorError::TooLarge));
    assert_eq!(elements(&[0, -1]), Err(TensorError::Negative { axis: 1, dimension: -1 }));
}
