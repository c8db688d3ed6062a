// What a test may make the provider do, and see of it: POST /control/NAME with JSON.

// The token endpoint: who asked it for what, and how it is to misbehave.
export class Token {
  seen = [];
  failure = null; // a status, or "drop"
  hold = null; // "before" or "after" the request has had its effect
  held = [];
  arrivals = [];
  departures = [];
  abandoned = false; // whether somebody who was held is gone

  async requested(ctx, next) {
    if (this.failure !== null) return this.fail(ctx);
    if (this.hold === "before" && (await this.wait(ctx)) === "abandoned") return;
    await next();
    this.note(ctx);
    if (this.hold === "after") await this.wait(ctx);
  }

  fail(ctx) {
    this.seen.push({ status: this.failure });
    if (this.failure === "drop") return ctx.req.socket.destroy();
    ctx.status = this.failure;
    ctx.body = "The provider is told to fail.";
  }

  note(ctx) {
    const { body = {}, client } = ctx.oidc;
    this.seen.push({
      client: client?.clientId ?? body.client_id ?? null,
      grant: body.grant_type ?? null,
      proves: "code_verifier" in body, // PKCE
      secret: ctx.headers.authorization ? "basic" : "client_secret" in body ? "post" : "none",
      status: ctx.status,
      error: ctx.body?.error ?? null,
    });
  }

  async wait(ctx) {
    for (const tell of this.arrivals.splice(0)) tell();
    const how = await new Promise((go) => {
      this.held.push(go);
      ctx.res.once("close", () => go("abandoned")); // whoever asked is gone
    });
    if (how === "abandoned") {
      this.abandoned = true;
      for (const tell of this.departures.splice(0)) tell();
    }
    return how;
  }

  arrived() {
    return this.held.length ? null : new Promise((tell) => this.arrivals.push(tell));
  }

  departed() {
    return this.abandoned ? null : new Promise((tell) => this.departures.push(tell));
  }

  misbehave({ failure = null, hold = null }) {
    this.failure = failure;
    this.hold = hold;
    this.abandoned = false;
    for (const go of this.held.splice(0)) go();
  }
}

export const controls = {
  register: ({ memory }, client) => memory.shelf("Client").upsert(client.client_id, client),
  // What the person did there: take back all that any client was given.
  revoke: ({ memory }, { account }) =>
    memory.forget((row) => row.accountId === account, ["Grant", "AccessToken", "RefreshToken", "AuthorizationCode"]),
  // Access tokens end before their time; what was granted stays.
  cut: ({ memory }, { account }) => memory.forget((row) => row.accountId === account, ["AccessToken"]),
  seen: ({ token }, { client }) => token.seen.filter((request) => client === undefined || request.client === client),
  misbehave: ({ token }, how) => token.misbehave(how),
  held: ({ token }) => token.arrived(),
  abandoned: ({ token }) => token.departed(),
};
