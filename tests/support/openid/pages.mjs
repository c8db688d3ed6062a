// The provider's own pages, as plain as can be.
const page = (title, inside) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title>
<h1>${title}</h1>
<form method="post">${inside}</form></html>`;

const escaped = (text) => text.replace(/[^\w .:/-]/g, (sign) => `&#${sign.codePointAt(0)};`);

export const loginPage = () =>
  page("Sign in at the provider", '<label>User name <input name="name" required></label> <button>Sign in</button>');

const box = (scope) => `<label><input type="checkbox" name="scope" value="${scope}" checked> ${scope}</label>`;

const button = (answer, text) => `<button name="answer" value="${answer}">${text}</button>`;

export function consentPage({ params, prompt }) {
  const boxes = (prompt.details.missingOIDCScope ?? []).map((scope) => box(escaped(scope)));
  const buttons = [button("agree", "Agree"), button("refuse", "Refuse")];
  return page(`${escaped(params.client_id)} wants access`, [...boxes, ...buttons].join("\n"));
}
