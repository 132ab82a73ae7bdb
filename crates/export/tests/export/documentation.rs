//! Tables are documented in `docs/formats/export.md` as the code has them.

use prony_report::tidy::Table;

const DOCUMENT: &str = include_str!("../../../../docs/formats/export.md");

/// The section of a table.
fn section(table: Table) -> String {
    let rows = table.columns().iter().map(|column| {
        let key = if column.is_key { ", key" } else { "" };
        let meaning = column.meaning.trim();
        format!(
            "| `{}` | {}{key} | {meaning} |\n",
            column.name,
            column.kind.name()
        )
    });
    let rows: String = rows.collect();
    format!(
        "### {}\n\n| column | kind | meaning |\n|---|---|---|\n{rows}",
        table.name()
    )
}

#[test]
fn every_column_is_documented() {
    for table in Table::ALL {
        let section = section(table);
        assert!(
            DOCUMENT.contains(&section),
            "the document lacks:\n\n{section}"
        );
    }
}
