//! The section on execution plans.

use crate::analysis::Analysis;
use crate::analysis::execution_plans::ExplainedStatement;
use crate::document::Block;
use crate::page::view::grouped;
use crate::words::plural;

/// The section of a report: differences one by one, the rest in a line.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let statements = &analysis.statements;
    if statements.is_empty() || analysis.plan.targets.len() < 2 {
        return Vec::new();
    }
    let differing: Vec<String> = statements
        .iter()
        .filter(|statement| !statement.equal())
        .map(|statement| item(analysis, statement))
        .collect();
    let mut blocks = vec![Block::Heading("Execution plans".into())];
    let all = plural(statements.len() as u64, "statement");
    if differing.is_empty() {
        let text = format!("The same in all targets for {all}.");
        blocks.push(Block::Paragraph(text));
    } else {
        let text = format!("Different for {} of {all}:", differing.len());
        blocks.push(Block::Paragraph(text));
        blocks.push(Block::List(differing));
    }
    blocks.extend(unexplained(analysis));
    blocks
}

fn item(analysis: &Analysis<'_>, statement: &ExplainedStatement) -> String {
    let by_words = grouped(statement.plans.iter().map(|(target, plan)| {
        let name = analysis.plan.targets[*target].name.as_str();
        (plan.words.as_str(), name)
    }));
    let parts: Vec<String> = by_words
        .iter()
        .map(|(words, names)| format!("{words} [{}]", names.join(", ")))
        .collect();
    format!(
        "{}, `{}`: {}",
        statement.step,
        statement.statement,
        parts.join("; ")
    )
}

/// Targets that could not explain every statement, in one line.
fn unexplained(analysis: &Analysis<'_>) -> Option<Block> {
    let statements = &analysis.statements;
    let missing: Vec<String> = analysis
        .columns()
        .into_iter()
        .filter_map(|target| {
            let has = |statement: &&ExplainedStatement| {
                statement.plans.iter().any(|(index, _)| *index == target)
            };
            let explained = statements.iter().filter(has).count();
            let name = &analysis.plan.targets[target].name;
            let all = statements.len();
            (explained < all).then(|| format!("{name} {explained} of {all}"))
        })
        .collect();
    (!missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        Block::Paragraph(format!(
            "Some versions do not explain some statements: {missing}."
        ))
    })
}
