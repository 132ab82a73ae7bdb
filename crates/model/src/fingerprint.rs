//! Fingerprints of cells: equal where a plan asks for the same measurement.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    Address, ClientGroup, Dataset, External, Family, Plan, Step, Target, Tls, WantedPlacement,
};

/// Hexadecimal digits of a fingerprint.
const LENGTH: usize = 32;

impl Plan {
    /// The fingerprints of all cells, by target and step.
    ///
    /// A fingerprint is a hash of everything in the plan that decides the figures of a cell: the
    /// dataset, the target but for its server build, what is collected, the backend that the plan
    /// asks for, what is counted, and the step with the placement that the plan asks for, and with
    /// all steps before it, which leave the tables as it finds them. Not in it are the server build, which is what runs are compared for, names
    /// and other labels, blocks and the seed.
    pub fn fingerprints(&self) -> Vec<Vec<String>> {
        let of_target = |target: &Target| {
            let mut hash = Sha256::new_with_prefix(line(self.common_inputs(target)));
            let of_step = |step: &Step| {
                let placement = self.wanted_placement(target, step);
                hash.update(line(step_inputs(step, target.build.family, placement)));
                digits(hash.clone())
            };
            self.steps.iter().map(of_step).collect()
        };
        self.targets.iter().map(of_target).collect()
    }

    /// Hashes of the work of all steps, by step: the dataset, and the clients of all groups with
    /// their statements, parameters and pace, and the time that counts. Steps of two plans with equal
    /// hashes do the same work, whatever their names and however long they take; what else decides
    /// their figures is in the fingerprints. Where families of servers have statements of their
    /// own, they are those of the base's.
    pub fn works(&self) -> Vec<String> {
        let family = self.targets[self.base].build.family;
        let of_step = |step: &Step| {
            let groups = step.groups.iter().map(|group| group_inputs(group, family));
            let groups: Vec<_> = groups.collect();
            let inputs = json!({
                "dataset": self.dataset,
                "dataset_version": Dataset::VERSION,
                "groups": groups,
                "timing": step.timing,
            });
            digits(Sha256::new_with_prefix(line(inputs)))
        };
        self.steps.iter().map(of_step).collect()
    }

    /// Inputs that all cells of a target have in common.
    fn common_inputs(&self, target: &Target) -> Value {
        let counting = self.counting.map(|counting| {
            json!({
                "by": counting.by,
                "operations": counting.operations,
                "time_ms": counting.time_ms,
            })
        });
        // The same library in another folder changes nothing.
        let preload = target.preload.iter().map(|library| &library.sha256);
        let preload: Vec<_> = preload.collect();
        json!({
            "dataset": self.dataset,
            "dataset_version": Dataset::VERSION,
            "engine": target.engine,
            "config": target.config,
            "protocol": target.protocol,
            "transport": target.transport,
            "preload": preload,
            "external": target.external.as_ref().map(external_inputs),
            "collect": target.collect,
            "backend": self.backend,
            "counting": counting,
            "turn_ms": self.turn_ms,
        })
    }
}

fn digits(hash: Sha256) -> String {
    let digits = hash.finalize();
    let digits = digits.iter().map(|byte| format!("{byte:02x}"));
    digits.take(LENGTH / 2).collect()
}

/// The way to an external server, without its place and the account.
fn external_inputs(external: &External) -> Value {
    let transport = match external.address {
        Address::Unix(_) => "socket",
        Address::Tcp(_) => "tcp",
    };
    let tls = match external.tls {
        Tls::Off => "off",
        Tls::Required => "required",
        Tls::VerifyCa(_) => "verify-ca",
        Tls::VerifyFull(_) | Tls::VerifyFullBy(_) => "verify-full",
    };
    json!({ "transport": transport, "tls": tls })
}

fn step_inputs(step: &Step, family: Family, placement: Option<&WantedPlacement>) -> Value {
    let groups = step.groups.iter().map(|group| group_inputs(group, family));
    let groups: Vec<_> = groups.collect();
    json!({
        "groups": groups,
        "warmup_ms": step.warmup_ms,
        "length": step.length,
        "settle": step.settle,
        "timing": step.timing,
        "ramp_ms": step.ramp_ms,
        "placement": placement,
    })
}

fn group_inputs(group: &ClientGroup, family: Family) -> Value {
    let workload = &group.workload;
    json!({
        "effect": workload.effect,
        "schema": workload.schema,
        "transaction": workload.transaction,
        "text_only": workload.text_only,
        "statements": workload.statements_for(family),
        "parameters": group.parameters,
        "clients": group.clients,
        "pace": group.pace,
        "reconnect_every": group.reconnect_every,
    })
}

/// The canonical text of inputs: JSON on one line, keys in the order of the alphabet. Keys without
/// a value are left out, so that one that comes with a later version changes no fingerprint while
/// it is not used.
fn line(mut inputs: Value) -> String {
    prune(&mut inputs);
    inputs.sort_all_objects();
    format!("{inputs}\n")
}

/// Removes the keys of objects whose values are null or empty.
fn prune(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.values_mut().for_each(prune);
            entries.retain(|_, value| !is_nothing(value));
        }
        Value::Array(values) => values.iter_mut().for_each(prune),
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
