/** Checks definitions in the Amazon States Language. */
declare module "asl-validator" {
  const validate: (definition: unknown) => {
    readonly isValid: boolean;
    readonly errorsText: (separator: string) => string;
  };
  export default validate;
}
