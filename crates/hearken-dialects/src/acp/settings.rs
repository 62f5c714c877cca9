//! The settings of an agent's conversation: its mode, its model, and what else it offers.
//!
//! Responsibilities: parsing the settings, their present values, and what differs from before. Not here: changing them
//! (`setting_changes`).
//!
//! # Mental model
//! The protocol has two ways to say the same thing: modes, and options, one of which may be the mode. If an agent sends
//! the option, that one counts, and its legacy mode is ignored, as the protocol wants.

use serde_json::{Map, Value};

use crate::event_writer::{self, cut};

use crate::kit::members::text;

/// How many settings are kept; no agent has nearly as many.
const MOST: usize = 30;
/// How many values of a setting are kept: a list of models may be long.
const MOST_VALUES: usize = 1000;
/// The longest name, in characters.
const LONGEST: usize = 200;
/// The longest description, in characters: it is read out before a value is chosen.
const LONGEST_TEXT: usize = 600;

/// How a setting is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// As the legacy mode.
    Mode,
    /// As an option with a list of values.
    Option,
    /// As an option that is on or off.
    Switch,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The agent's name for the setting.
    pub id: String,
    /// Its name for people; empty for the legacy mode, which has none.
    pub name: String,
    /// The agent's description.
    pub description: String,
    /// Whether it is the mode that the agent works in.
    pub is_mode: bool,
    /// How it is changed.
    pub kind: SettingKind,
    /// The agent's name for the present value.
    pub now: String,
    /// The values that it can have.
    pub values: Vec<SettingValue>,
}

/// One value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingValue {
    /// The agent's name for the value.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The agent's description.
    pub description: String,
}

impl Setting {
    /// Returns the name of a value for people.
    pub fn value<'a>(&'a self, id: &'a str) -> &'a str {
        let value = self.values.iter().find(|value| value.id == id);
        value.map_or(id, |value| value.name.as_str())
    }
}

/// The value of a switch that is on, as agents write it.
pub const ON: &str = "true";
/// The value of a switch that is off. See [`ON`].
pub const OFF: &str = "false";

/// All settings of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentSettings {
    all: Vec<Setting>,
    /// How many settings and values were dropped, because there were too many.
    pub left_out: usize,
}

/// What is new about a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingChange {
    /// It was unknown before.
    There,
    /// Its value has changed from this one.
    Changed(String),
}

impl AgentSettings {
    /// Applies a message; returns the settings that are new or have changed.
    pub fn take(&mut self, map: &Map<String, Value>) -> Vec<(Setting, SettingChange)> {
        let options = map.get("configOptions").and_then(Value::as_array);
        let mut all = match options {
            Some(list) => {
                let list = list.iter().filter_map(Value::as_object);
                list.filter_map(option).collect()
            }
            None => self.without_old_mode(),
        };
        let mut left_out = all.len().saturating_sub(MOST);
        all.truncate(MOST);
        for setting in &mut all {
            left_out += setting.values.len().saturating_sub(MOST_VALUES);
            setting.values.truncate(MOST_VALUES);
        }
        if options.is_some() {
            self.left_out = left_out;
        }
        if !all.iter().any(|setting| setting.is_mode) {
            let mode = map.get("modes").and_then(Value::as_object).map(mode);
            let before = || {
                self.all
                    .iter()
                    .find(|it| it.kind == SettingKind::Mode)
                    .cloned()
            };
            let mode = mode.unwrap_or_else(before);
            all.splice(0..0, mode);
        }
        let before = std::mem::replace(&mut self.all, all);
        let news = self.all.iter().filter_map(|setting| {
            let before = before.iter().find(|it| it.id == setting.id);
            let news = match before {
                None => SettingChange::There,
                Some(before) if before.now != setting.now => {
                    SettingChange::Changed(before.now.clone())
                }
                Some(_) => return None,
            };
            Some((setting.clone(), news))
        });
        news.collect()
    }

    fn without_old_mode(&self) -> Vec<Setting> {
        let all = self.all.iter().filter(|it| it.kind != SettingKind::Mode);
        all.cloned().collect()
    }

    /// Applies a change to another mode; returns the setting, and the mode before, if that differs.
    pub fn in_mode(&mut self, mode: &str) -> Option<(Setting, String)> {
        let setting = match self.all.iter_mut().find(|setting| setting.is_mode) {
            Some(setting) => setting,
            None => {
                // The agent named no mode before, so there is nothing to choose from.
                self.all.insert(0, Setting::old_mode());
                self.all.first_mut()?
            }
        };
        if setting.now == mode {
            return None;
        }
        let before = std::mem::replace(&mut setting.now, mode.to_owned());
        Some((setting.clone(), before))
    }

    /// Returns the setting that is the agent's mode.
    pub fn mode(&self) -> Option<&Setting> {
        self.all.iter().find(|setting| setting.is_mode)
    }

    /// Returns the settings with more than one value.
    pub fn choosable(&self) -> impl Iterator<Item = &Setting> {
        self.all.iter().filter(|setting| setting.values.len() > 1)
    }

    /// Returns a setting by the agent's name for it.
    pub fn get(&self, id: &str) -> Option<&Setting> {
        self.all.iter().find(|setting| setting.id == id)
    }
}

impl Setting {
    fn old_mode() -> Self {
        Self {
            id: "mode".to_owned(),
            name: String::new(),
            description: String::new(),
            is_mode: true,
            kind: SettingKind::Mode,
            now: String::new(),
            values: Vec::new(),
        }
    }
}

fn mode(modes: &Map<String, Value>) -> Option<Setting> {
    let list = modes.get("availableModes").and_then(Value::as_array);
    Some(Setting {
        now: cut(text(modes, "currentModeId")?, LONGEST),
        values: values(list.into_iter().flatten(), "id"),
        ..Setting::old_mode()
    })
}

/// Parses an option; `None` if its type is unknown, as the protocol wants.
fn option(map: &Map<String, Value>) -> Option<Setting> {
    let id = known(map, "id")?;
    let now = map.get("currentValue")?;
    let (kind, now, values) = match text(map, "type") {
        Some("boolean") => {
            let value = |id: &str| SettingValue {
                id: id.to_owned(),
                name: String::new(),
                description: String::new(),
            };
            let now = if now.as_bool()? { ON } else { OFF };
            (SettingKind::Switch, now, vec![value(ON), value(OFF)])
        }
        // Agents wrote options before types existed.
        Some("select") | None => {
            let list = map.get("options").and_then(Value::as_array)?;
            // Values may be in groups, one level deep.
            let list = list.iter().flat_map(|entry| {
                let group = entry.get("options").and_then(Value::as_array);
                match group {
                    Some(group) => group.iter().collect(),
                    None => vec![entry],
                }
            });
            (SettingKind::Option, now.as_str()?, values(list, "value"))
        }
        Some(_) => return None,
    };
    Some(Setting {
        name: name(map, &id),
        description: says(map),
        is_mode: text(map, "category") == Some("mode"),
        kind,
        now: cut(now, LONGEST),
        values,
        id,
    })
}

fn values<'a>(list: impl Iterator<Item = &'a Value>, id: &str) -> Vec<SettingValue> {
    let list = list.filter_map(Value::as_object).filter_map(|value| {
        let id = known(value, id)?;
        Some(SettingValue {
            name: name(value, &id),
            description: says(value),
            id,
        })
    });
    list.take(2 * MOST_VALUES).collect()
}

/// Returns a name that goes back to the agent; `None` if it is too long, because a cut one would be wrong.
fn known(map: &Map<String, Value>, member: &str) -> Option<String> {
    let id = text(map, member).filter(|id| id.chars().count() <= LONGEST)?;
    Some(id.to_owned())
}

fn name(map: &Map<String, Value>, id: &str) -> String {
    let name = text(map, "name").filter(|name| !name.trim().is_empty());
    cut(name.unwrap_or(id), LONGEST)
}

fn says(map: &Map<String, Value>) -> String {
    let text = text(map, "description").unwrap_or_default();
    let text: Vec<&str> = text.split_whitespace().collect();
    event_writer::cut(&text.join(" "), LONGEST_TEXT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn take(settings: &mut AgentSettings, map: Value) -> Vec<(String, String)> {
        let other = settings.take(map.as_object().unwrap());
        let other = other.into_iter();
        other.map(|(it, _)| (it.id, it.now)).collect()
    }

    fn pair(id: &str, now: &str) -> (String, String) {
        (id.to_owned(), now.to_owned())
    }

    #[test]
    fn modes_and_options_are_settings_and_an_option_that_is_the_mode_goes_before() {
        let mut settings = AgentSettings::default();
        let modes = json!({"currentModeId": "ask", "availableModes": [
            {"id": "ask", "name": "Ask", "description": "Asks\nfirst"}, {"id": "yolo"}, {"name": "no id"}]});
        assert_eq!(
            take(&mut settings, json!({"modes": modes})),
            [pair("mode", "ask")]
        );
        let mode = settings.get("mode").unwrap();
        assert_eq!((mode.value("yolo"), mode.values.len()), ("yolo", 2));
        assert_eq!(mode.values[0].description, "Asks first");
        let options = |now: &str| {
            json!([
                {"id": "model", "name": "Model", "type": "select", "currentValue": now,
                    "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}, {"value": "b"}]}]},
                {"id": "brave", "name": "Brave", "type": "boolean", "currentValue": true},
                {"id": "odd", "type": "slider", "currentValue": "1"},
            ])
        };
        let other = take(&mut settings, json!({"configOptions": options("a")}));
        assert_eq!(other, [pair("model", "a"), pair("brave", "true")]);
        assert_eq!(settings.choosable().count(), 3, "the mode of old stays");
        let other = take(&mut settings, json!({"configOptions": options("b")}));
        assert_eq!(other, [pair("model", "b")]);
        let own = json!([{"id": "approval", "name": "Approval", "category": "mode", "type": "select",
            "currentValue": "x", "options": [{"value": "x"}, {"value": "y"}]}]);
        take(
            &mut settings,
            json!({"configOptions": own, "modes": modes.clone()}),
        );
        assert_eq!(settings.choosable().count(), 1);
        assert_eq!(settings.in_mode("y").unwrap().0.id, "approval");
        assert_eq!(settings.in_mode("y"), None);
    }

    #[test]
    fn a_mode_of_which_nothing_was_said_before_is_known_by_its_name_and_can_not_be_chosen() {
        let mut settings = AgentSettings::default();
        assert_eq!(settings.in_mode("code").unwrap().0.value("code"), "code");
        assert_eq!(settings.choosable().count(), 0);
        assert_eq!(take(&mut settings, json!({})), []);
    }

    #[test]
    fn what_there_is_too_much_of_is_bounded_and_no_name_goes_back_in_part() {
        let mut settings = AgentSettings::default();
        let values: Vec<Value> = (0..2 * MOST_VALUES)
            .map(|n| json!({"value": n.to_string(), "description": "x".repeat(5000)}))
            .collect();
        let option = |id: String| json!({"id": id, "type": "select", "currentValue": "0", "options": values});
        let mut options: Vec<Value> = (0..2).map(|n| option(n.to_string())).collect();
        options.push(option("y".repeat(LONGEST + 1)));
        take(&mut settings, json!({"configOptions": options}));
        let all: Vec<&Setting> = settings.choosable().collect();
        assert_eq!((all.len(), all[0].values.len()), (2, MOST_VALUES));
        assert_eq!(settings.left_out, 2 * MOST_VALUES);
        assert_eq!(all[0].values[0].description.chars().count(), LONGEST_TEXT);
    }
}
