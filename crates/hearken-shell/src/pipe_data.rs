//! Data in a pipe: the output of each program, and its use as words of the next command.

use crate::embedded_languages;
use crate::program_lists::lists;
use crate::shell_state::PipeData;
use crate::word::Value;

/// Inserts piped input into the words of a command, at its placeholder or at the end.
pub(crate) fn insert_input(words: &mut Vec<Value>, input: &PipeData) {
    let mut placed = false;
    for word in words.iter_mut() {
        if word.text.contains("{}") || word.text == "%" {
            word.stands_for_many = true;
            word.is_certain = false;
            placed = true;
        }
    }
    if placed {
        return;
    }
    match input {
        PipeData::Text(text) if !text.contains(['\'', '"', '\\']) => {
            let handed = text
                .split(|c: char| c.is_whitespace() || c == '\0')
                .filter(|word| !word.is_empty());
            words.extend(handed.map(Value::uncertain));
        }
        _ => words.push(Value::many()),
    }
}

/// Returns the output of a program to the next one in a pipe.
pub(crate) fn output_of(name: &str, rest: &[Value], input: PipeData) -> PipeData {
    let flows = &lists().flows;
    let is = |list: &[String]| list.iter().any(|it| it == name);
    if is(&flows.prints) {
        let words: Vec<&str> = rest
            .iter()
            .map(|word| word.text.as_str())
            .filter(|text| !text.starts_with('-'))
            .collect();
        if !rest.iter().all(|word| word.is_certain && !word.is_pattern) {
            return PipeData::Data;
        }
        let text = match words.split_first() {
            Some((format, values)) if name == "printf" => {
                embedded_languages::printf(format, values)
            }
            _ => words.join(" "),
        };
        return PipeData::Text(embedded_languages::escapes(&text));
    }
    if is(&flows.passes) {
        let operands = rest.iter().any(|word| !word.text.starts_with('-'));
        return match (input, operands) {
            (PipeData::Nothing, _) => PipeData::Data,
            (PipeData::Text(text), false) => PipeData::Text(text),
            (PipeData::Text(_), true) => PipeData::Data,
            (other, _) => other,
        };
    }
    let decodes = |it: &String| match it.split_once(' ') {
        Some((program, option)) => {
            program == name && rest.iter().any(|word| word.text.starts_with(option))
        }
        None => it == name,
    };
    match input {
        PipeData::Downloaded => PipeData::Downloaded,
        _ if flows.decodes.iter().any(decodes) => PipeData::Decoded,
        PipeData::Decoded => PipeData::Decoded,
        PipeData::Nothing | PipeData::Text(_) | PipeData::Data => PipeData::Data,
    }
}
