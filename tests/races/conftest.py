"""The provider, for as long as the tests of this folder."""

from tests.openid.running import openid as openid
