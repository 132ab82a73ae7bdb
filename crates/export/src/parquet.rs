//! Tables as Parquet: every column optional, no compression. Dictionaries make repeated keys small, and
//! the same rows give the same bytes.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, TimestampType, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use prony_report::ReportError;
use prony_report::tidy::{FORMAT, Kind, Rows, Table, Value};

use crate::error::ExportError;

/// Rows that are held in memory and written together.
const GROUP: usize = 131_072;

/// Writes a table of the run `run`.
pub(crate) fn write(
    run: &str,
    table: Table,
    rows: Rows<'_>,
    out: &mut (dyn Write + Send),
) -> std::result::Result<(), ExportError> {
    let failed = |error: ParquetError| ExportError::Write {
        name: table.name().to_owned(),
        source: match error {
            // The reason of the file system, if that is the cause.
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(source) => *source,
                Err(source) => io::Error::other(source),
            },
            other => io::Error::other(other),
        },
    };
    let schema = schema(table).map_err(failed)?;
    let mut writer = SerializedFileWriter::new(out, schema, properties(run)).map_err(failed)?;
    let mut group = Vec::new();
    for row in rows {
        group.push(row.map_err(|error: ReportError| error)?);
        if group.len() == GROUP {
            write_group(table, &group, &mut writer).map_err(failed)?;
            group.clear();
        }
    }
    if !group.is_empty() {
        write_group(table, &group, &mut writer).map_err(failed)?;
    }
    writer.close().map(drop).map_err(failed)
}

fn properties(run: &str) -> Arc<WriterProperties> {
    let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let metadata = vec![
        pair("prony.format", FORMAT.to_string()),
        pair("prony.run", run.to_owned()),
    ];
    let properties = WriterProperties::builder()
        .set_created_by("prony".to_owned())
        .set_key_value_metadata(Some(metadata));
    Arc::new(properties.build())
}

fn schema(table: Table) -> Result<TypePtr> {
    let fields = table.columns().iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, None),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Time => {
                let utc = TimestampType {
                    is_adjusted_to_u_t_c: true,
                    unit: TimeUnit::MILLIS,
                };
                (Physical::INT64, Some(LogicalType::Timestamp(utc)))
            }
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder(table.name()).with_fields(fields);
    schema.build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    table: Table,
    rows: &[Vec<Value<'_>>],
    writer: &mut SerializedFileWriter<W>,
) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for index in 0..table.columns().len() {
        let Some(mut column) = group.next_column()? else {
            break;
        };
        let values = || rows.iter().map(|row| &row[index]);
        let levels: Vec<i16> = values().map(|v| i16::from(*v != Value::Null)).collect();
        let levels = Some(&levels[..]);
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let texts = values().filter_map(|value| match value {
                    Value::Text(text) => Some(ByteArray::from(text.as_ref())),
                    _ => None,
                });
                writer.write_batch(&texts.collect::<Vec<_>>(), levels, None)?;
            }
            ColumnWriter::Int64ColumnWriter(writer) => {
                let numbers = values().filter_map(|value| match value {
                    Value::Integer(number) => Some(*number),
                    Value::Time(time) => Some(time.as_millisecond()),
                    _ => None,
                });
                writer.write_batch(&numbers.collect::<Vec<_>>(), levels, None)?;
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                let numbers = values().filter_map(|value| match value {
                    Value::Number(number) => Some(*number),
                    _ => None,
                });
                writer.write_batch(&numbers.collect::<Vec<_>>(), levels, None)?;
            }
            ColumnWriter::BoolColumnWriter(writer) => {
                let flags = values().filter_map(|value| match value {
                    Value::Flag(flag) => Some(*flag),
                    _ => None,
                });
                writer.write_batch(&flags.collect::<Vec<_>>(), levels, None)?;
            }
            _ => {
                return Err(ParquetError::General(
                    "a column of no known kind".to_owned(),
                ));
            }
        }
        column.close()?;
    }
    group.close().map(drop)
}
