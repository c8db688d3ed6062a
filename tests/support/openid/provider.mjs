// An OpenID provider on a loopback port of its own, for the tests: oidc-provider, with pages and controls of ours.
// Settings come as JSON in the first argument; its address goes out as one line; it ends when its input does.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";

import { Memory } from "./memory.mjs";
import { consentPage, loginPage } from "./pages.mjs";
import { Token, controls } from "./controls.mjs";

const settings = JSON.parse(process.argv[2]);
const { default: Provider } = await import(settings.library);

const server = createServer();
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const { port } = server.address();
const issuer = `http://127.0.0.1:${port}`;

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const memory = new Memory();
const token = new Token();

const provider = new Provider(issuer, {
  adapter: (model) => memory.shelf(model),
  // A browser sends the cookies of one port to all others of the host.
  cookies: {
    keys: [randomBytes(32).toString("hex")],
    names: { interaction: `interaction-${port}`, resume: `resume-${port}`, session: `session-${port}` },
  },
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
  scopes: ["openid", "offline_access", "profile", "email", "calendar"],
  findAccount: (_, id) => ({ accountId: id, claims: async () => claimsOf(id) }),
  features: {
    devInteractions: { enabled: false },
    introspection: { enabled: true },
    resourceIndicators: { enabled: true, getResourceServerInfo: protectedResource },
    revocation: { enabled: true },
  },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "tests" }] },
  pkce: { required: () => true },
  renderError: (ctx, { error }) => {
    ctx.type = "text";
    ctx.body = `The provider refuses: ${error}`;
  },
  rotateRefreshToken: true,
  ttl: {
    AccessToken: settings.seconds,
    Grant: 86_400,
    IdToken: 600,
    Interaction: 600,
    RefreshToken: 86_400,
    Session: 86_400,
  },
});

function claimsOf(id) {
  return { sub: id, name: `${id[0].toUpperCase()}${id.slice(1)}`, email: `${id}@people.example`, email_verified: true };
}

function protectedResource(_, resource) {
  const format = { accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } };
  return { audience: resource, scope: "tools", accessTokenTTL: 3600, ...format };
}

async function read(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function interact(ctx) {
  const going = await provider.interactionDetails(ctx.req, ctx.res);
  const isLogin = going.prompt.name === "login";
  if (ctx.method === "GET") {
    ctx.type = "html";
    ctx.body = isLogin ? loginPage() : consentPage(going);
    return;
  }
  const form = new URLSearchParams(await read(ctx.req));
  const result = isLogin ? { login: { accountId: form.get("name") } } : await consented(going, form);
  ctx.status = 303;
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
}

async function consented(going, form) {
  if (form.get("answer") !== "agree") return { error: "access_denied" };
  const { accountId } = going.session;
  const clientId = going.params.client_id;
  const grant = going.grantId ? await provider.Grant.find(going.grantId) : new provider.Grant({ accountId, clientId });
  const agreed = new Set(form.getAll("scope"));
  for (const scope of going.prompt.details.missingOIDCScope ?? []) {
    if (agreed.has(scope)) grant.addOIDCScope(scope);
    else grant.rejectOIDCScope(scope);
  }
  for (const [resource, scopes] of Object.entries(going.prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  return { consent: { grantId: await grant.save() } };
}

provider.use(async (ctx, next) => {
  if (ctx.path.startsWith("/interaction/")) return interact(ctx);
  if (ctx.path.startsWith("/control/")) {
    const wanted = JSON.parse((await read(ctx.req)) || "{}");
    ctx.body = { answer: (await controls[ctx.path.slice("/control/".length)]({ memory, token }, wanted)) ?? null };
    return;
  }
  if (ctx.path === "/token") return token.requested(ctx, next);
  await next();
});

server.on("request", provider.callback());
process.stdin.on("end", () => process.exit()).resume();
process.stdout.write(`${issuer}\n`);
