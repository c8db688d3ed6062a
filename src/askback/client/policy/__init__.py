"""A policy: what an operator lets a run without a person answer, by rules in a file. Nothing else is answered."""

from askback.client.policy.policy_file import load_policy, parse_policy
from askback.client.policy.policy_person import PolicyPerson
from askback.client.policy.rules import Policy, PolicyRule

__all__ = ["Policy", "PolicyPerson", "PolicyRule", "load_policy", "parse_policy"]
