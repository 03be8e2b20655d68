/** The reference: Swagger UI with the API's document, sending requests with the token of the page's login. */
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { assetUrl } from "../assets.ts";
import { element, html } from "../dom.ts";
import { apiUrl } from "../http.ts";
import { currentLogin, onLoginChange } from "../session.ts";
import { isDark, onThemeChange } from "../theme.ts";
import { nameControls } from "./control-names.ts";

type Reference = ReturnType<typeof SwaggerUI>;

/** Shows the reference. */
export async function showReference(): Promise<void> {
  await loadStyle();
  const setTheme = () => document.documentElement.classList.toggle("dark-mode", isDark());
  onThemeChange(setTheme);
  setTheme();
  nameControls(element("reference"));
  let reference: Reference | undefined;
  onLoginChange((login) => {
    // After a logout, the old one would still show the token, requests and responses.
    if (login === undefined || reference === undefined) reference = createReference();
    else reference.preauthorizeApiKey("bearer", login.token);
  });
}

/** Replaces the reference with a new one. */
function createReference(): Reference {
  const place = html("div");
  element("reference").replaceChildren(place);
  const reference = SwaggerUI({
    domNode: place,
    // The paths without aliases.
    url: apiUrl("openapi.json?aliases=false"),
    // Otherwise Swagger UI would send the document to Swagger's validator.
    validatorUrl: null,
    deepLinking: false,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    plugins: [withoutClientScheme],
    tryItOutEnabled: true,
    syntaxHighlight: { activated: true, theme: "nord" },
    onComplete: () => {
      const login = currentLogin();
      if (login !== undefined) reference.preauthorizeApiKey("bearer", login.token);
    },
    requestInterceptor: (request) => {
      const login = currentLogin();
      const isSameOrigin = new URL(request.url, document.baseURI).origin === location.origin;
      if (login !== undefined && isSameOrigin) request.headers.Authorization ??= `Bearer ${login.token}`;
      return request;
    },
  });
  return reference;
}

/**
 * Takes away the scheme of clients with keys: Swagger UI would ask for a secret, which no client has. Such a client logs
 * in to the page with a token.
 */
function withoutClientScheme() {
  type Update = (document: { components: { securitySchemes: { openId?: object } } }) => unknown;
  const updateJsonSpec =
    (update: Update): Update =>
    (document) => {
      delete document.components.securitySchemes.openId;
      return update(document);
    };
  return { statePlugins: { spec: { wrapActions: { updateJsonSpec } } } };
}

async function loadStyle(): Promise<void> {
  const link = html("link", { rel: "stylesheet", href: assetUrl("referenceStyle") });
  await new Promise((resolve, reject) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", reject);
    document.head.append(link);
  });
}
