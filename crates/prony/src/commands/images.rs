//! `prony images`: the data directories that trials start from.

use std::fmt::Write as _;

use jiff::Timestamp;
use prony_host::Roots;
use prony_model::{Dataset, LoadMethod};
use prony_servers::{ImageFacts, Images, Removal};

use crate::cli::{ImagesClearArgs, ImagesCommand, ListArgs, ListFormatArg};
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::words;

/// Runs one of the sub-commands.
pub(crate) fn images(command: &ImagesCommand) -> Result<(), Failure> {
    let roots = Roots::from_environment().map_err(Failure::host)?;
    let images = Images::new(&roots);
    match command {
        ImagesCommand::List(args) => list(images, args),
        ImagesCommand::Clear(args) => clear(images, args),
    }
}

fn list(images: Images<'_>, args: &ListArgs) -> Result<(), Failure> {
    let all = images.list().map_err(Failure::host)?;
    match args.format {
        ListFormatArg::Text => output::data(&list_text(&all)),
        ListFormatArg::Json => {
            let text = serde_json::to_string_pretty(&all).map_err(Failure::defect)?;
            output::data(&format!("{text}\n"))
        }
    }
}

fn list_text(images: &[ImageFacts]) -> String {
    let keys = images.iter().map(|image| image.key.as_str().len());
    let width = keys.max().unwrap_or(0);
    let mut text = String::new();
    for image in images {
        let made = match &image.made {
            Some(made) => dataset(&made.record.dataset),
            None => "created by another version of Prony, unusable for this one".to_owned(),
        };
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "{:width$}  {:>10}  used {}  {made}",
            image.key.as_str(),
            words::mebibytes(image.bytes),
            minute(image.last_used_ms),
        );
    }
    let bytes = images.iter().map(|image| image.bytes).sum();
    let count = words::plural(images.len() as u64, "image");
    let _ = writeln!(text, "{count}, {}", words::mebibytes(bytes));
    text
}

fn dataset(dataset: &Dataset) -> String {
    if dataset.load == LoadMethod::Inserts {
        return "no tables, which trials load by inserts".to_owned();
    }
    let rows = match dataset.load {
        LoadMethod::None => "without rows".to_owned(),
        _ => format!("of {}", words::plural(dataset.rows, "row")),
    };
    let tables = words::plural(u64::from(dataset.tables), "table");
    format!("{}, {tables} {rows}", dataset.schema.name())
}

/// A time to the minute, UTC.
fn minute(ms: u64) -> String {
    let time = i64::try_from(ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok());
    time.map_or_else(String::new, |time| {
        time.strftime("%Y-%m-%d %H:%M").to_string()
    })
}

fn clear(images: Images<'_>, args: &ImagesClearArgs) -> Result<(), Failure> {
    let all = images.list().map_err(Failure::host)?;
    let mut in_use = Vec::new();
    for image in select(args, &all)? {
        match images.remove(&image.key).map_err(Failure::host)? {
            Removal::Removed => output::data(&format!(
                "removed {}, {}\n",
                image.key.as_str(),
                words::mebibytes(image.bytes)
            ))?,
            // Somebody else was faster.
            Removal::Missing => {}
            Removal::InUse => in_use.push(image.key.as_str()),
        }
    }
    if in_use.is_empty() {
        return Ok(());
    }
    let message = format!("a run uses {}", in_use.join(", "));
    Err(Failure::new(ExitStatus::Host, message).with_hint("remove them after the run has ended"))
}

/// The images that were asked for, all of them known.
fn select<'a>(
    args: &ImagesClearArgs,
    all: &'a [ImageFacts],
) -> Result<Vec<&'a ImageFacts>, Failure> {
    if args.all {
        return Ok(all.iter().collect());
    }
    if let Some(build) = &args.build {
        let of_build = |image: &&ImageFacts| {
            let made = image.made.as_ref();
            made.is_some_and(|made| made.build == *build)
        };
        let found: Vec<_> = all.iter().filter(of_build).collect();
        return match found.as_slice() {
            [] => Err(unknown(&format!(
                "there is no image of the server build `{build}`"
            ))),
            _ => Ok(found),
        };
    }
    let find = |key: &String| {
        let mut all = all.iter();
        all.find(|image| image.key.as_str() == key)
            .ok_or_else(|| unknown(&format!("there is no image `{key}`")))
    };
    args.keys.iter().map(find).collect()
}

fn unknown(message: &str) -> Failure {
    Failure::new(ExitStatus::Usage, message).with_hint("`prony images list` shows all images")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_to_the_minute() {
        assert_eq!(minute(1_700_000_000_000), "2023-11-14 22:13");
        assert_eq!(minute(u64::MAX), "");
    }

    #[test]
    fn an_empty_list_says_so() {
        assert_eq!(list_text(&[]), "0 images, 0.0 MiB\n");
    }
}
