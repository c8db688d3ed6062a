"""A policy: what an operator lets a run without a person answer, by rules in a file. Nothing else is answered."""

from askback.client.policy.person import PolicyPerson
from askback.client.policy.reading import load_policy, parse_policy
from askback.client.policy.rules import Policy, Rule

__all__ = ["Policy", "PolicyPerson", "Rule", "load_policy", "parse_policy"]
