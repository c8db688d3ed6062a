"""The provider, for as long as the tests of this folder; and a store for each."""

from tests.support.openid.provider import openid as openid
from tests.support.stores.shared import url as url
