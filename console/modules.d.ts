/** Types for the parts of Swagger UI that the console uses; its package has none. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  interface Request {
    url: string;
    headers: Record<string, string>;
  }

  interface Options {
    readonly domNode: HTMLElement;
    readonly url: string;
    readonly validatorUrl: null;
    readonly deepLinking: boolean;
    readonly docExpansion: "list" | "full" | "none";
    readonly defaultModelsExpandDepth: number;
    readonly displayRequestDuration: boolean;
    readonly persistAuthorization: boolean;
    readonly tryItOutEnabled: boolean;
    readonly syntaxHighlight: { readonly activated: boolean; readonly theme: string };
    readonly onComplete: () => void;
    readonly plugins: readonly object[];
    readonly requestInterceptor: (request: Request) => Request;
  }

  export default function SwaggerUI(options: Options): {
    readonly preauthorizeApiKey: (scheme: string, token: string) => void;
  };
}

/** `tools/build-console.ts` bundles the style sheets that the page's script imports. */
declare module "*.css";
