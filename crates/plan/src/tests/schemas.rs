//! Schemas in files: the built-in ones, the documentation's, and messages about wrong ones.

use prony_model::{Dataset, Schema};

use super::{RIGHT, World, assert_says};
use crate::fields::Fields;
use crate::invalid::read_toml;
use crate::parse_workloads;

/// The example of the documentation.
fn example() -> &'static str {
    let page = include_str!("../../../../docs/formats/schema.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert!(example().contains(from), "{from}");
    let text = example().replacen(from, to, 1);
    assert_says(&parse_workloads("mine.toml", &text).unwrap_err(), expected);
}

#[test]
fn the_schemas_that_come_with_prony_are_read_as_a_users() {
    let mut read = 0;
    for (name, text) in Schema::FILES {
        let schemas = read_toml(name, text, |document, table| {
            let mut root = Fields::root(document, "a file", table);
            let tables = root.tables("schema", "a schema")?;
            tables
                .into_iter()
                .map(crate::schema::read)
                .collect::<Result<Vec<_>, _>>()
        });
        for schema in schemas.unwrap() {
            let built_in = Schema::built_in(&schema.value.name).unwrap();
            assert_eq!(*built_in.definition(), schema.value);
            read += 1;
        }
    }
    assert_eq!(read, Schema::all_built_in().count());
}

/// The experiment of the tests, with the workload of the example in place of its steps.
fn experiment_over_the_example() -> String {
    let text = RIGHT.replace("[dataset]", "[dataset]\nschema = \"receipts\"");
    let (start, _) = text.split_once("[[step]]").unwrap();
    format!("{start}[[step]]\nworkload = \"purchase-by-receipt\"\n")
}

/// From a file with a schema and a workload to a plan over its tables.
#[test]
fn the_example_runs_in_an_experiment() {
    let mut world = World::new();
    world
        .workloads
        .extend(parse_workloads("mine.toml", example()).unwrap());
    let plan = world.parse(&experiment_over_the_example()).unwrap();
    assert_eq!(plan.dataset.schema.name(), "receipts");
    assert_eq!(plan.dataset.indexes(1)[1].name, "by_receipt_2");
}

#[test]
fn an_experiment_can_hold_its_schema_and_workload() {
    let text = format!("{}{}", experiment_over_the_example(), example());
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.dataset.schema.name(), "receipts");
    assert_eq!(plan.steps[0].own().workload.schema.name(), "receipts");

    let wrong = text.replacen("columns = [\"receipt\"]", "columns = [\"recipe\"]", 1);
    let error = World::new().parse(&wrong).unwrap_err();
    assert_says(
        &error,
        "unknown column `recipe` | columns = [«\"recipe\"»] no such column | did you mean `receipt`? known columns: id, receipt, customer, bought, paid, card, note",
    );
}

#[test]
fn a_schema_in_the_experiment_serves_workloads_of_its_columns() {
    let own = Schema::FILES[0]
        .1
        .replacen("name = \"sbtest\"", "name = \"mine\"", 1);
    let own = own.split("# Its `c`").next().unwrap();
    let text = RIGHT.replace("[dataset]", "[dataset]\nschema = \"mine\"");
    let plan = World::new().parse(&format!("{text}\n{own}")).unwrap();
    assert_eq!(plan.dataset.schema.name(), "mine");
}

#[test]
fn columns() {
    check(
        "\"bigint\"",
        "\"int\"",
        r#"`int` is not a type: write number, integer, bigint, char(n) with n up to 255, varchar(n) with n up to 4000, or datetime
           | type = «"int"» can't be read"#,
    );
    check(
        "type = \"varchar(40)\"",
        "type = \"integer\"",
        r#"a integer column can't hold texts
           | type = «"integer"» in this column
           | numbers go into number, integer or bigint; texts into char(n) or varchar(n); `since` into datetime"#,
    );
    check(
        "value = \"10 * row\"",
        "value = \"10 * rwo\"",
        r#"`rwo` is not defined
           | value = "10 * «rwo»" can't be used here
           | did you mean `row`? known names at this place: row, rows_before, rows, tables"#,
    );
    check(
        "value = \"row\"",
        "value = \"row + 1\"",
        r#"the values of the key `id` are not those of a key
           | name = «"id"» must follow from the row
           | write value = "row"; a key of text has `text` beside it, such as text = "user{number:12}""#,
    );
}

#[test]
fn indexes() {
    check(
        "columns = [\"customer\", \"bought\"]",
        "columns = [\"custmer\", \"bought\"]",
        r#"unknown column `custmer`
           | columns = [«"custmer"», "bought"] no such column
           | did you mean `customer`? known columns: id, receipt, customer, bought, paid, card, note"#,
    );
    check(
        "distribution = \"unique\"",
        "distribution = \"uniform\"",
        r#"nothing fills the unique index `by_receipt_{number}`
           | «[[schema.index]]» rows may have the same values
           | give one of its columns values that differ in all rows: value = "row", or distribution = "unique" beside `from`"#,
    );
    let long = example()
        .replace("varchar(40)", "varchar(800)")
        .replace("\"bought\"]", "\"note\"]");
    assert_says(
        &parse_workloads("mine.toml", &long).unwrap_err(),
        r#"a column of an index has at most 767 bytes in InnoDB before 5.7
           | columns = ["customer", «"note"»] a varchar(800)
           | make the text shorter, or leave it out of the index"#,
    );
}

#[test]
fn names_that_are_taken() {
    check(
        "name = \"receipts\"",
        "name = \"foo\"",
        r#"the name `foo` is taken
           | name = «"foo"» a schema that comes with Prony
           | choose another name: reports and images know schemas by it"#,
    );
}

#[test]
fn generators_that_can_not_fill_the_rows() {
    let text = example().replace("1..2 * rows", "1..50");
    let mut world = World::new();
    world
        .workloads
        .extend(parse_workloads("mine.toml", &text).unwrap());
    let experiment = RIGHT.replace("[dataset]", "[dataset]\nschema = \"receipts\"");
    let said = world.parse(&experiment).unwrap_err();
    assert_says(
        &said,
        "`receipts` can't have these rows: column `receipt` has 50 values, and the unique index \
         `by_receipt_{number}` needs 10000
           | rows = «10_000» with 10000 rows
           | choose another number of rows, or other values or another type of the column",
    );
}

/// The example of several tables in the documentation.
fn household() -> &'static str {
    let page = include_str!("../../../../docs/formats/schema.md");
    let (_, rest) = page.split_once("## Several tables").unwrap();
    let (_, rest) = rest.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn several_tables_in_the_documentation() {
    let workloads = parse_workloads("mine.toml", household()).unwrap();
    let schema = workloads[0].schema;
    let dataset = Dataset {
        schema,
        ..Dataset::sbtest(2, 95, 1)
    };
    assert_eq!(dataset.names_of_set(1), ["children2", "parents2"]);
    let rows: Vec<u64> = dataset.parts().iter().map(|part| part.rows).collect();
    assert_eq!(rows, [95, 10]);
    assert_eq!(dataset.rows_total(), 2 * (95 + 10));
    assert_eq!(dataset.check(), Ok(()));
    assert_eq!(
        dataset.sql_of_set(
            schema.conditions[0]
                .sql
                .of(prony_model::Family::Mysql)
                .unwrap(),
            0
        ),
        "SELECT COUNT(*) FROM children1 c LEFT JOIN parents1 p ON p.id = c.parent WHERE p.id IS NULL"
    );
}

#[test]
fn names_of_several_tables() {
    for (from, to, expected) in [
        (
            "references = \"parents\"",
            "references = \"parent\"",
            r#"unknown table `parent`
               | references = «"parent"» no such table
               | did you mean `parents`? known tables: children, parents"#,
        ),
        (
            "name = \"parent\"\ntype = \"integer\"",
            "name = \"parent\"\ntype = \"bigint\"",
            r#"`parent` is a bigint, and the key of parents is a integer
               | references = «"parents"» refers to that key
               | give both columns the same type"#,
        ),
        (
            "FROM {table} c JOIN {table:parents}",
            "FROM {table} c JOIN {table:parent}",
            r#"`household` has no further table `parent`
               | sql = "SELECT c.id, p.id FROM {table} c JOIN {table:«parent»} p ON p.id = c.parent WHERE c.id = {id}" no such table
               | did you mean `parents`? known tables of the schema: parents"#,
        ),
        (
            "LEFT JOIN {table:parents}",
            "LEFT JOIN {parents}",
            r#"`{parents}` has no value here
               | sql = "SELECT COUNT(*) FROM {table} c LEFT JOIN «{parents}» p ON p.id = c.parent WHERE p.id IS NULL" not the name of a table
               | only {table}, {table:name} and {procedure:name} can stand in it"#,
        ),
        (
            "tables = \"children\"",
            "tables = \"children2\"",
            r#"`children2` can't be the name of one of several tables
               | tables = «"children2"» in this schema
               | a number follows each name: choose one that ends with a letter, other than `list`"#,
        ),
    ] {
        assert!(household().contains(from), "{from}");
        let text = household().replacen(from, to, 1);
        assert_says(&parse_workloads("mine.toml", &text).unwrap_err(), expected);
    }
}

#[test]
fn foreign_keys_are_for_innodb() {
    let text = RIGHT
        .replace("[dataset]", "[dataset]\nschema = \"family\"")
        .replace(
            "workload = \"read-only\"\nparameters.range = 10\n",
            "workload = \"parent-update\"\n",
        );
    let steps = text.find("[[step]]").unwrap();
    let text = format!("{}[[step]]\nworkload = \"parent-update\"\n", &text[..steps]);
    assert!(World::new().parse(&text).is_ok());
    let text = text.replacen("[[target]]", "[[target]]\nengine = \"myisam\"", 1);
    let error = World::new().parse(&text).unwrap_err().to_string();
    assert!(error.contains("`family` has foreign keys"), "{error}");
}
