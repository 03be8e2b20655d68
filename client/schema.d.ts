// Made of the OpenAPI document without aliases by `npm run docs`.

export interface paths {
    readonly "/v3/profile/authenticate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Log in
         * @description Exchanges an e-mail address and a password for an access token and the full profile. Needs no token; one that is sent is ignored.
         */
        readonly post: operations["authenticateProfile"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth2/token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Issue an access token
         * @description Exchanges an assertion, a JWT that a client has signed with its key, for an access token. With the grant `client_credentials` it is the client's own, 2-legged. With the grant `urn:ietf:params:oauth:grant-type:jwt-bearer` it is a subscriber's, 3-legged: the assertion names the number as its subject, `tel:` and the number. The body is a form. Errors have the members of RFC 6749 too, `error` and `error_description`. Needs no token.
         */
        readonly post: operations["issueToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/.well-known/openid-configuration": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Metadata of the token issuer
         * @description Where tokens are issued and how: what exists, and nothing else. Needs no token.
         */
        readonly get: operations["publishMetadata"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/qualityondemand/retrieve-qos-profiles": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * List QoS profiles
         * @description The QoS profiles that match all criteria given, by name. With a device, or a token tied to one: those available to it.
         *
         *     Needs the scope `qos-profiles:read`.
         */
        readonly post: operations["retrieveQosProfiles"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/qualityondemand/qos-profiles/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read a QoS profile
         * @description One QoS profile by its name. With a token tied to a device: only if it is available to the device.
         *
         *     Needs the scope `qos-profiles:read`.
         */
        readonly get: operations["getQosProfile"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/retrieve": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retrieve population density
         * @description How many people are, were or will be in an area, as a density with its range for each cell of a grid and each hour.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly post: operations["retrievePopulationDensity"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Summarize population density
         * @description Totals of an area for each hour: people, the densest cell, and the cells and area of each class of ground risk; and the quietest and the busiest hour. Made from the numbers that the same request for densities is answered with, and nothing else.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly post: operations["summarizePopulationDensity"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/capabilities": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read what densities can be asked for
         * @description What population densities can be asked for: precisions, limits, the time window, the suppression threshold, and coverage, newest day, source and licence of the data.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly get: operations["retrieveDensityCapabilities"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/operations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List density operations
         * @description The caller's operations, which are requests for population density with a sink, of the last day, the newest first. One that was accepted a moment ago may be missing.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly get: operations["listDensityOperations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/operations/{operationId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a density operation
         * @description What has become of an operation, which is a request for population density with a sink.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly get: operations["getDensityOperation"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Cancel a density operation
         * @description Ends a pending density operation. Unless the answer says `possiblyDelivered`, its sink gets nothing any more. Cancelling twice is cancelling once.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly delete: operations["cancelDensityOperation"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/operations/{operationId}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Deliver the answer of a density operation again
         * @description Starts a density operation that delivers the answer of an ended one, computed again, to another sink.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly post: operations["redeliverDensityOperation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/webhook-secrets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the secrets that sign deliveries
         * @description The ids and dates of the caller's webhook secrets; a secret itself is shown only when it is created.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly get: operations["listWebhookSecrets"];
        readonly put?: never;
        /**
         * Create a secret that signs deliveries
         * @description From now on the caller's deliveries are signed (Standard Webhooks). A caller has two secrets at most; while there are two, both sign, so that a receiver can change from one to the other.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly post: operations["createWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/populationdensitydata/webhook-secrets/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a secret that signs deliveries
         * @description Delivery attempts that begin afterwards are not signed with the secret. Returns the secrets that are left. Deleting twice is deleting once: an id that the caller does not have changes nothing.
         *
         *     Needs the scope `population-density-data:read`.
         */
        readonly delete: operations["deleteWebhookSecret"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/numberrecycling/check": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Check number recycling
         * @description Whether the subscriber of a phone number has changed since a given day. The number is the one that the request names, or that of the subscription of a 3-legged token.
         *
         *     Needs the scope `number-recycling:check`.
         */
        readonly post: operations["checkNumberRecycling"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/deviceidentifier/retrieve-identifier": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retrieve a device identifier
         * @description The identifiers and the type of the device that a subscriber uses. The subscriber is the one that the request names, or that of a 3-legged token.
         *
         *     Needs the scope `device-identifier:retrieve-identifier`.
         */
        readonly post: operations["retrieveIdentifier"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/deviceidentifier/retrieve-type": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retrieve the type of a device
         * @description The type of the device that a subscriber uses, and nothing by which the device itself could be recognised. The subscriber is the one that the request names, or that of a 3-legged token.
         *
         *     Needs the scope `device-identifier:retrieve-type`.
         */
        readonly post: operations["retrieveType"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/deviceidentifier/retrieve-ppid": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Retrieve a pseudonym of a device
         * @description A pairwise pseudonymous identifier (PPID) of the device that a subscriber uses: the same for each request of one client about one device, another one for every other client. The subscriber is the one sent, or the subject of the token.
         *
         *     Needs the scope `device-identifier:retrieve-ppid`.
         */
        readonly post: operations["retrievePpid"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/.well-known/jwks.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Public keys of access tokens
         * @description The keys that verify the tokens of this service, as a JSON Web Key Set. Needs no token.
         */
        readonly get: operations["getPublicKeys"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the OpenAPI document
         * @description The OpenAPI document of the service. The first of its servers is the one that was asked, and the times of its examples are about now. Needs no token.
         */
        readonly get: operations["getOpenApiDocument"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/.well-known/api-catalog": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Catalogue of the APIs
         * @description The APIs of the service and the document that describes them, as links (RFC 9727, RFC 9264). `HEAD` is answered too. Needs no token.
         */
        readonly get: operations["getApiCatalog"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What a login is made with.
         * @example {
         *       "emailaddress": "app@example.com",
         *       "password": "correct horse battery staple"
         *     }
         */
        readonly Credentials: {
            /** @description The address of the account; case does not matter. */
            readonly emailaddress?: string;
            /**
             * Format: password
             * @description The password of the account.
             */
            readonly password?: string;
        };
        /**
         * @description What the profiles listed have in common; every criterion is optional.
         * @example {
         *       "status": "ACTIVE",
         *       "device": {
         *         "phoneNumber": "+34600000001"
         *       }
         *     }
         */
        readonly QosProfileCriteria: {
            readonly device?: components["schemas"]["Device"];
            readonly name?: components["schemas"]["QosProfileName"];
            readonly status?: components["schemas"]["QosProfileStatus"];
        };
        /**
         * @description A device, by one identifier or more. The first present of phoneNumber, ipv4Address, ipv6Address decides.
         * @example {
         *       "phoneNumber": "+34600000001"
         *     }
         */
        readonly Device: {
            readonly phoneNumber?: components["schemas"]["PhoneNumber"];
            readonly ipv4Address?: components["schemas"]["Ipv4Address"];
            readonly ipv6Address?: components["schemas"]["Ipv6Address"];
            readonly networkAccessIdentifier?: components["schemas"]["NetworkAccessIdentifier"];
        } | unknown | unknown | unknown | unknown;
        /**
         * @description E.164 number with a leading +.
         * @example +34600000001
         */
        readonly PhoneNumber: string;
        /**
         * @description The public address of a device, with its private address or its public port.
         * @example {
         *       "publicAddress": "203.0.113.10",
         *       "publicPort": 59765
         *     }
         */
        readonly Ipv4Address: {
            readonly publicAddress: components["schemas"]["SingleIpv4Address"];
            /** @description The address behind the NAT; without one, the public address again. */
            readonly privateAddress?: components["schemas"]["SingleIpv4Address"];
            /** @description The port on the public address. */
            readonly publicPort?: components["schemas"]["Port"];
        } | unknown | unknown;
        /**
         * Format: ipv4
         * @description One IPv4 address without a mask.
         * @example 203.0.113.10
         */
        readonly SingleIpv4Address: string;
        /**
         * @description A TCP or UDP port.
         * @example 59765
         */
        readonly Port: number;
        /**
         * Format: ipv6
         * @description Any one address of the device's /64 network.
         * @example 2001:db8:1:1::1
         */
        readonly Ipv6Address: string;
        /**
         * @description Reserved: alone it is refused, with another identifier it is ignored.
         * @example 123456789@example.com
         */
        readonly NetworkAccessIdentifier: string;
        /**
         * @description The unique name of a QoS profile.
         * @example QOS_E
         */
        readonly QosProfileName: string;
        /**
         * @description `ACTIVE`: can be used. `INACTIVE`: cannot be deployed at present. `DEPRECATED`: still used by running sessions, not for new ones.
         * @enum {string}
         */
        readonly QosProfileStatus: "ACTIVE" | "INACTIVE" | "DEPRECATED";
        /**
         * @description Which area, when, and how finely.
         * @example {
         *       "area": {
         *         "areaType": "POLYGON",
         *         "boundary": [
         *           {
         *             "latitude": 45.754114,
         *             "longitude": 4.860374
         *           },
         *           {
         *             "latitude": 45.753845,
         *             "longitude": 4.863185
         *           },
         *           {
         *             "latitude": 45.75249,
         *             "longitude": 4.861876
         *           },
         *           {
         *             "latitude": 45.751224,
         *             "longitude": 4.861125
         *           },
         *           {
         *             "latitude": 45.751442,
         *             "longitude": 4.859827
         *           }
         *         ]
         *       },
         *       "startTime": "2026-11-23T11:25:00Z",
         *       "endTime": "2026-11-23T12:45:00Z",
         *       "precision": 6
         *     }
         */
        readonly PopulationDensityRequest: {
            readonly area: components["schemas"]["Area"];
            /**
             * Format: date-time
             * @description Start of the period, RFC 3339 with a zone: at most 3 months from now either way.
             */
            readonly startTime: string;
            /**
             * Format: date-time
             * @description End of the period: at most 7 days later, and on the same side of now.
             */
            readonly endTime: string;
            readonly precision?: components["schemas"]["Precision"];
            /**
             * Format: uri
             * @description An https URL with a public host name, to which the answer is delivered later. It is posted there with `operationId` as a further member.
             */
            readonly sink?: string;
            readonly sinkCredential?: components["schemas"]["SinkCredential"];
        };
        /** @description A polygon with straight edges in latitude and longitude, in either orientation, without crossing or touching itself. The last point need not repeat the first. An edge over more than 180 degrees of longitude crosses the antimeridian. */
        readonly Area: {
            /**
             * @description The only type there is.
             * @enum {string}
             */
            readonly areaType: "POLYGON";
            /** @description The vertices, one after the other. */
            readonly boundary: readonly components["schemas"]["Point"][];
        };
        /** @description A vertex, in degrees. */
        readonly Point: {
            /** @description Degrees north of the equator. */
            readonly latitude: number;
            /** @description Degrees east of Greenwich. */
            readonly longitude: number;
        };
        /**
         * @description Length of the cells' geohashes. A deployment may support only some lengths.
         * @default 7
         */
        readonly Precision: number;
        /** @description What the service presents to the sink. */
        readonly SinkCredential: {
            /**
             * @description The only type that is supported.
             * @enum {string}
             */
            readonly credentialType: "ACCESSTOKEN";
            /** @description Sent to the sink as bearer token. */
            readonly accessToken?: string;
            /**
             * Format: date-time
             * @description When the token ceases to be valid.
             */
            readonly accessTokenExpiresUtc?: string;
            /**
             * @description `bearer` in any case: many authorization servers write `Bearer`.
             * @example bearer
             */
            readonly accessTokenType?: string;
        };
        /**
         * @description The densities of an operation, or `OPERATION_NOT_COMPLETED` and why.
         * @example {
         *       "operationId": "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34",
         *       "status": "OPERATION_NOT_COMPLETED",
         *       "statusInfo": "The densities could not be computed. Send the request again.",
         *       "timedPopulationDensityData": []
         *     }
         */
        readonly PopulationDensityDelivery: {
            /**
             * @description `SUPPORTED_AREA`: the whole area is covered. `PART_OF_AREA_NOT_SUPPORTED`: the cells that are not covered are `NO_DATA`. `AREA_NOT_SUPPORTED`: nothing of the area is covered; there are no data. `OPERATION_NOT_COMPLETED`: the operation of a sink failed; there are no data.
             * @enum {string}
             */
            readonly status: "SUPPORTED_AREA" | "PART_OF_AREA_NOT_SUPPORTED" | "AREA_NOT_SUPPORTED" | "OPERATION_NOT_COMPLETED";
            /** @description The hours that cover the period, one after the other. */
            readonly timedPopulationDensityData: readonly components["schemas"]["TimedPopulationDensity"][];
            /** @description Why the operation failed; with `OPERATION_NOT_COMPLETED`. */
            readonly statusInfo?: string;
            /**
             * Format: uuid
             * @description Of the operation: as in the response 202, the same in every attempt.
             */
            readonly operationId: string;
        };
        /** @description The densities in one hour. */
        readonly TimedPopulationDensity: {
            /**
             * Format: date-time
             * @description Start of the hour, UTC.
             */
            readonly startTime: string;
            /**
             * Format: date-time
             * @description End of the hour, UTC.
             */
            readonly endTime: string;
            /** @description The same cells in every interval, in the order of their geohashes. */
            readonly cellPopulationDensityData: readonly components["schemas"]["CellPopulationDensity"][];
        };
        /** @description The density in one cell. Numbers are rounded to 12 significant binary digits, and the distances of the ends of the range to five, outwards: of 4,000 people, counted as 3,200 to 4,800 in a cell of 0.01631 km², 245,248 are published with 196,096 to 297,984 per km², which are 3,198 to 4,860 people. */
        readonly CellPopulationDensity: {
            /** @description The cell; as many characters as the precision says. */
            readonly geohash: string;
            /**
             * @description `NO_DATA`: the cell is not covered, or has no data for the hour. `LOW_DENSITY`: a cell of the finest counted precision has fewer people than the suppression threshold; of a coarser one, all cells in it have, and together they may have more (six of 9 people are 54 with a threshold of 10). No numbers are published. `DENSITY_ESTIMATION`: the three numbers follow.
             * @enum {string}
             */
            readonly dataType: "NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION";
            /** @description The people who were counted in the cell, per km² of the whole cell. */
            readonly pplDensity?: number;
            /** @description Lower end of the range, per km² of the whole cell. */
            readonly minPplDensity?: number;
            /** @description Upper end of the range, per km² of the covered part of the cell. */
            readonly maxPplDensity?: number;
        };
        /**
         * @description Which area, when, and how finely.
         * @example {
         *       "area": {
         *         "areaType": "POLYGON",
         *         "boundary": [
         *           {
         *             "latitude": 45.754114,
         *             "longitude": 4.860374
         *           },
         *           {
         *             "latitude": 45.753845,
         *             "longitude": 4.863185
         *           },
         *           {
         *             "latitude": 45.75249,
         *             "longitude": 4.861876
         *           },
         *           {
         *             "latitude": 45.751224,
         *             "longitude": 4.861125
         *           },
         *           {
         *             "latitude": 45.751442,
         *             "longitude": 4.859827
         *           }
         *         ]
         *       },
         *       "startTime": "2026-11-23T11:25:00Z",
         *       "endTime": "2026-11-23T12:45:00Z",
         *       "precision": 6
         *     }
         */
        readonly PopulationDensitySummaryRequest: {
            readonly area: components["schemas"]["Area"];
            /**
             * Format: date-time
             * @description Start of the period, RFC 3339 with a zone: at most 3 months from now either way.
             */
            readonly startTime: string;
            /**
             * Format: date-time
             * @description End of the period: at most 7 days later, and on the same side of now.
             */
            readonly endTime: string;
            readonly precision?: components["schemas"]["Precision"];
            /** @description Refused: a summary is answered at once. */
            readonly sink?: unknown;
        };
        /**
         * @description Where the answer is delivered: the sink of the request was erased with its outcome.
         * @example {
         *       "sink": "https://sink.example.com/densities"
         *     }
         */
        readonly Redelivery: {
            /**
             * Format: uri
             * @description An https URL with a public host name, to which the answer is delivered later. It is posted there with `operationId` as a further member.
             */
            readonly sink: string;
            readonly sinkCredential?: components["schemas"]["SinkCredential"];
        };
        /**
         * @description Which number, and since when.
         * @example {
         *       "specifiedDate": "2023-12-22",
         *       "phoneNumber": "+34600000012"
         *     }
         */
        readonly NumberRecyclingCheck: {
            /**
             * Format: date
             * @description The day in question, in UTC; today at the latest.
             */
            readonly specifiedDate: string;
            readonly phoneNumber?: components["schemas"]["PhoneNumber"];
        };
        /**
         * @description The device, by its identifiers; left out with a 3-legged token, which is tied to one.
         * @example {
         *       "device": {
         *         "phoneNumber": "+34600000001"
         *       }
         *     }
         */
        readonly DeviceIdentifierRequest: {
            readonly device?: components["schemas"]["Device"];
        };
        /**
         * @description The access token and the profile.
         * @example {
         *       "Data": {
         *         "access_token": "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIxMDAwIn0.c2lnbmF0dXJl",
         *         "UserProfile": {
         *           "ID": 1000,
         *           "Username": "Demo application",
         *           "DateCreated": "2024-01-15T09:00:00Z",
         *           "IsProfilePublic": false,
         *           "DateLastLogin": "2026-11-20T08:00:00Z",
         *           "EmailAddress": "app@example.com",
         *           "Permissions": "qos-profiles:read population-density-data:read number-recycling:check device-identifier:retrieve-identifier device-identifier:retrieve-type device-identifier:retrieve-ppid"
         *         }
         *       },
         *       "Metadata": {
         *         "StatusCode": 200
         *       }
         *     }
         */
        readonly ProfileAuthenticateResponse: {
            /** @description What the login gives. */
            readonly Data: {
                /** @description A JWT to send as a bearer token. */
                readonly access_token: string;
                readonly UserProfile: components["schemas"]["UserProfile"];
            };
            /** @description About the response. */
            readonly Metadata: {
                /** @description The HTTP status code, once more. */
                readonly StatusCode: number;
            };
        };
        /**
         * @description A full profile, with members that are not public.
         * @example {
         *       "ID": 1000,
         *       "Username": "Demo application",
         *       "DateCreated": "2024-01-15T09:00:00Z",
         *       "IsProfilePublic": false,
         *       "DateLastLogin": "2026-11-20T08:00:00Z",
         *       "EmailAddress": "app@example.com",
         *       "Permissions": "qos-profiles:read population-density-data:read number-recycling:check device-identifier:retrieve-identifier device-identifier:retrieve-type device-identifier:retrieve-ppid"
         *     }
         */
        readonly UserProfile: {
            /** @description The number of the profile. */
            readonly ID: number;
            /** @description The name of the account. */
            readonly Username: string;
            /** @description When the profile was made, as it was imported. */
            readonly DateCreated: string;
            /** @description Whether other people may see the profile. */
            readonly IsProfilePublic: boolean;
            /** @description When this login was made, RFC 3339. */
            readonly DateLastLogin?: string;
            /** @description The address that logs in. */
            readonly EmailAddress?: string;
            /** @description Of the location, in degrees. */
            readonly Latitude?: number;
            /** @description Where the owner is, in words. */
            readonly Location?: string;
            /** @description Of the location, in degrees. */
            readonly Longitude?: number;
            /** @description The scopes of the profile's tokens, space-separated. */
            readonly Permissions?: string;
            /** @description What the owner says of itself. */
            readonly Profile?: string;
            /** @description Where a picture of the owner is. */
            readonly ProfileImageURL?: string;
            /** @description The owner's points. */
            readonly ReputationPoints?: number;
            /** @description The owner's site. */
            readonly WebsiteURL?: string;
        };
        /**
         * @description The profiles that match, by name; empty when none does.
         * @example [
         *       {
         *         "name": "QOS_E",
         *         "status": "ACTIVE",
         *         "maxUpstreamRate": {
         *           "value": 10,
         *           "unit": "Mbps"
         *         },
         *         "maxDownstreamRate": {
         *           "value": 20,
         *           "unit": "Mbps"
         *         },
         *         "minDuration": {
         *           "value": 1,
         *           "unit": "Minutes"
         *         },
         *         "maxDuration": {
         *           "value": 12,
         *           "unit": "Hours"
         *         },
         *         "priority": 20,
         *         "packetDelayBudget": {
         *           "value": 50,
         *           "unit": "Milliseconds"
         *         },
         *         "serviceClass": "real_time_interactive"
         *       }
         *     ]
         */
        readonly QosProfiles: readonly components["schemas"]["QosProfile"][];
        /**
         * @description A named set of network quality parameters.
         * @example {
         *       "name": "QOS_E",
         *       "status": "ACTIVE",
         *       "maxUpstreamRate": {
         *         "value": 10,
         *         "unit": "Mbps"
         *       },
         *       "maxDownstreamRate": {
         *         "value": 20,
         *         "unit": "Mbps"
         *       },
         *       "minDuration": {
         *         "value": 1,
         *         "unit": "Minutes"
         *       },
         *       "maxDuration": {
         *         "value": 12,
         *         "unit": "Hours"
         *       },
         *       "priority": 20,
         *       "packetDelayBudget": {
         *         "value": 50,
         *         "unit": "Milliseconds"
         *       },
         *       "serviceClass": "real_time_interactive"
         *     }
         */
        readonly QosProfile: {
            readonly name: components["schemas"]["QosProfileName"];
            readonly status: components["schemas"]["QosProfileStatus"];
            /** @description What the profile is for. */
            readonly description?: string;
            /** @description Where the profile is offered. Absent: the operator has not limited it, and it counts as offered everywhere. */
            readonly countryAvailability?: readonly components["schemas"]["CountryAvailability"][];
            /** @description The minimum upstream rate that the network aims at. */
            readonly targetMinUpstreamRate?: components["schemas"]["Rate"];
            /** @description The maximum upstream rate. */
            readonly maxUpstreamRate?: components["schemas"]["Rate"];
            /** @description The maximum upstream rate for a short time. */
            readonly maxUpstreamBurstRate?: components["schemas"]["Rate"];
            /** @description The minimum downstream rate that the network aims at. */
            readonly targetMinDownstreamRate?: components["schemas"]["Rate"];
            /** @description The maximum downstream rate. */
            readonly maxDownstreamRate?: components["schemas"]["Rate"];
            /** @description The maximum downstream rate for a short time. */
            readonly maxDownstreamBurstRate?: components["schemas"]["Rate"];
            /** @description The shortest session. */
            readonly minDuration?: components["schemas"]["Duration"];
            /** @description The longest session. */
            readonly maxDuration?: components["schemas"]["Duration"];
            /**
             * Format: int32
             * @description A lower value has a higher priority.
             */
            readonly priority?: number;
            /** @description The longest delay of a packet between the device and the network's edge. */
            readonly packetDelayBudget?: components["schemas"]["Duration"];
            /** @description The maximum variation of the delay of packets. */
            readonly jitter?: components["schemas"]["Duration"];
            /**
             * Format: int32
             * @description n means that up to 10^-n of the packets may be lost.
             */
            readonly packetErrorLossRate?: number;
            /**
             * @description The kind of queue for low latency, low loss traffic. Experimental: may change or be removed.
             * @enum {string}
             */
            readonly l4sQueueType?: "non-l4s-queue" | "l4s-queue" | "mixed-queue";
            /**
             * @description The class of differentiated services (RFC 4594). Experimental: may change or be removed.
             * @enum {string}
             */
            readonly serviceClass?: "vendor_voice" | "vendor_audio_video" | "real_time_interactive" | "multimedia_streaming" | "broadcast_video" | "low_latency_data" | "high_throughput_data" | "low_priority_data" | "standard";
        };
        /** @description A country, and where given the networks, of a profile. */
        readonly CountryAvailability: {
            /** @description Country code, two letters. */
            readonly countryName: string;
            /** @description Networks of the country by their code; absent: all of them. */
            readonly networks?: readonly string[];
        };
        /** @description A data rate. */
        readonly Rate: {
            /**
             * Format: int32
             * @description The number of units.
             */
            readonly value?: number;
            /**
             * @description The unit of the value, a second.
             * @enum {string}
             */
            readonly unit?: "bps" | "kbps" | "Mbps" | "Gbps" | "Tbps";
        };
        /** @description A length of time. */
        readonly Duration: {
            /**
             * Format: int32
             * @description The number of units.
             */
            readonly value?: number;
            /**
             * @description The unit of the value.
             * @enum {string}
             */
            readonly unit?: "Days" | "Hours" | "Minutes" | "Seconds" | "Milliseconds" | "Microseconds" | "Nanoseconds";
        };
        /**
         * @description The densities of the cells that share area with the polygon, hour by hour.
         * @example {
         *       "status": "SUPPORTED_AREA",
         *       "timedPopulationDensityData": [
         *         {
         *           "startTime": "2026-11-23T11:00:00Z",
         *           "endTime": "2026-11-23T12:00:00Z",
         *           "cellPopulationDensityData": [
         *             {
         *               "geohash": "u05kq8",
         *               "dataType": "DENSITY_ESTIMATION",
         *               "pplDensity": 10472,
         *               "minPplDensity": 10168,
         *               "maxPplDensity": 10776
         *             },
         *             {
         *               "geohash": "u05kq9",
         *               "dataType": "DENSITY_ESTIMATION",
         *               "pplDensity": 31296,
         *               "minPplDensity": 30560,
         *               "maxPplDensity": 32032
         *             }
         *           ]
         *         },
         *         {
         *           "startTime": "2026-11-23T12:00:00Z",
         *           "endTime": "2026-11-23T13:00:00Z",
         *           "cellPopulationDensityData": [
         *             {
         *               "geohash": "u05kq8",
         *               "dataType": "DENSITY_ESTIMATION",
         *               "pplDensity": 10616,
         *               "minPplDensity": 10312,
         *               "maxPplDensity": 10920
         *             },
         *             {
         *               "geohash": "u05kq9",
         *               "dataType": "DENSITY_ESTIMATION",
         *               "pplDensity": 31440,
         *               "minPplDensity": 30704,
         *               "maxPplDensity": 32176
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        readonly PopulationDensity: {
            /**
             * @description `SUPPORTED_AREA`: the whole area is covered. `PART_OF_AREA_NOT_SUPPORTED`: the cells that are not covered are `NO_DATA`. `AREA_NOT_SUPPORTED`: nothing of the area is covered; there are no data. `OPERATION_NOT_COMPLETED`: the operation of a sink failed; there are no data.
             * @enum {string}
             */
            readonly status: "SUPPORTED_AREA" | "PART_OF_AREA_NOT_SUPPORTED" | "AREA_NOT_SUPPORTED" | "OPERATION_NOT_COMPLETED";
            /** @description The hours that cover the period, one after the other. */
            readonly timedPopulationDensityData: readonly components["schemas"]["TimedPopulationDensity"][];
            /** @description Why the operation failed; with `OPERATION_NOT_COMPLETED`. */
            readonly statusInfo?: string;
        };
        /** @description The densities as GeoJSON (RFC 7946), a feature for each cell. */
        readonly PopulationDensityFeatures: {
            /**
             * @description Of GeoJSON.
             * @constant
             */
            readonly type: "FeatureCollection";
            /**
             * @description `SUPPORTED_AREA`: the whole area is covered. `PART_OF_AREA_NOT_SUPPORTED`: the cells that are not covered are `NO_DATA`. `AREA_NOT_SUPPORTED`: nothing of the area is covered; there are no data. `OPERATION_NOT_COMPLETED`: the operation of a sink failed; there are no data.
             * @enum {string}
             */
            readonly status: "SUPPORTED_AREA" | "PART_OF_AREA_NOT_SUPPORTED" | "AREA_NOT_SUPPORTED" | "OPERATION_NOT_COMPLETED";
            /** @description The hours of all arrays, one after the other. */
            readonly intervals: readonly {
                /**
                 * Format: date-time
                 * @description Start of the hour, UTC.
                 */
                readonly startTime: string;
                /**
                 * Format: date-time
                 * @description End of the hour, UTC.
                 */
                readonly endTime: string;
            }[];
            /** @description The cells in the order of their geohashes. */
            readonly features: readonly components["schemas"]["CellFeature"][];
        };
        /** @description A cell and its densities. */
        readonly CellFeature: {
            /**
             * @description Of GeoJSON.
             * @constant
             */
            readonly type: "Feature";
            /** @description The cell's geohash. */
            readonly id: string;
            /** @description The rectangle of the cell. */
            readonly geometry: {
                /**
                 * @description Of GeoJSON.
                 * @constant
                 */
                readonly type: "Polygon";
                /** @description One ring, counterclockwise from the south-west; longitude first. */
                readonly coordinates: readonly (readonly (readonly number[])[])[];
            };
            /** @description The densities in the cell, hour by hour. */
            readonly properties: {
                /** @description The cell. */
                readonly geohash: string;
                /**
                 * Format: date-time
                 * @description Start of the first hour, UTC.
                 */
                readonly startTime: string;
                /**
                 * Format: date-time
                 * @description End of the last hour, UTC.
                 */
                readonly endTime: string;
                /** @description Whether the hour was observed or is that of a typical weekday; `null` where nothing is stored. One for each hour, from `startTime` on. */
                readonly basis: readonly (("OBSERVED" | "TYPICAL") | null)[];
                /** @description What is known of the cell. One for each hour, from `startTime` on. */
                readonly dataType: readonly ("NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION")[];
                /** @description People per km² of the whole cell. `null` without an estimate. One for each hour, from `startTime` on. */
                readonly pplDensity: readonly (number | null)[];
                /** @description Lower ends of the ranges. `null` without an estimate. One for each hour, from `startTime` on. */
                readonly minPplDensity: readonly (number | null)[];
                /** @description Upper ends of the ranges. `null` without an estimate. One for each hour, from `startTime` on. */
                readonly maxPplDensity: readonly (number | null)[];
                /** @description The share of the cell's area in which people were counted. 0 without data. One for each hour, from `startTime` on. */
                readonly coveredShare: readonly number[];
            };
        };
        /** @description The densities as GeoJSON (RFC 7946), a feature for each cell in each hour: with `featuresPer=HOUR`. */
        readonly PopulationDensityHourlyFeatures: {
            /**
             * @description Of GeoJSON.
             * @constant
             */
            readonly type: "FeatureCollection";
            /**
             * @description `SUPPORTED_AREA`: the whole area is covered. `PART_OF_AREA_NOT_SUPPORTED`: the cells that are not covered are `NO_DATA`. `AREA_NOT_SUPPORTED`: nothing of the area is covered; there are no data. `OPERATION_NOT_COMPLETED`: the operation of a sink failed; there are no data.
             * @enum {string}
             */
            readonly status: "SUPPORTED_AREA" | "PART_OF_AREA_NOT_SUPPORTED" | "AREA_NOT_SUPPORTED" | "OPERATION_NOT_COMPLETED";
            /** @description Hour by hour, the cells in the order of their geohashes. */
            readonly features: readonly components["schemas"]["CellHourFeature"][];
        };
        /** @description A cell in an hour, and its density. */
        readonly CellHourFeature: {
            /**
             * @description Of GeoJSON.
             * @constant
             */
            readonly type: "Feature";
            /** @description The rectangle of the cell. */
            readonly geometry: {
                /**
                 * @description Of GeoJSON.
                 * @constant
                 */
                readonly type: "Polygon";
                /** @description One ring, counterclockwise from the south-west; longitude first. */
                readonly coordinates: readonly (readonly (readonly number[])[])[];
            };
            /** @description The density in the cell in the hour. */
            readonly properties: {
                /** @description The cell. */
                readonly geohash: string;
                /**
                 * Format: date-time
                 * @description Start of the hour, UTC.
                 */
                readonly startTime: string;
                /**
                 * Format: date-time
                 * @description End of the hour, UTC.
                 */
                readonly endTime: string;
                /** @description Whether the hour was observed or is that of a typical weekday; `null` where nothing is stored. */
                readonly basis: ("OBSERVED" | "TYPICAL") | null;
                /**
                 * @description What is known of the cell.
                 * @enum {string}
                 */
                readonly dataType: "NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION";
                /** @description People per km² of the whole cell. `null` without an estimate. */
                readonly pplDensity: number | null;
                /** @description Lower end of the range. `null` without an estimate. */
                readonly minPplDensity: number | null;
                /** @description Upper end of the range. `null` without an estimate. */
                readonly maxPplDensity: number | null;
                /** @description The share of the cell's area in which people were counted. 0 without data. */
                readonly coveredShare: number;
            };
        };
        /**
         * @description The densities as CSV (RFC 4180): a header, and a row for each cell in each hour. Numbers without an estimate are empty, and so is `basis` (`OBSERVED` or `TYPICAL`) where nothing is stored. `coveredShare` is the share of the cell's area in which people were counted, 0 without data. With `geometry`, the first columns say where the cell is.
         * @example geohash,startTime,endTime,dataType,pplDensity,minPplDensity,maxPplDensity,coveredShare,basis
         *     u05kq8,2026-11-23T11:00:00Z,2026-11-23T12:00:00Z,DENSITY_ESTIMATION,10472,10168,10776,1,TYPICAL
         *     u05kq9,2026-11-23T11:00:00Z,2026-11-23T12:00:00Z,DENSITY_ESTIMATION,31296,30560,32032,1,TYPICAL
         *     u05kq8,2026-11-23T12:00:00Z,2026-11-23T13:00:00Z,DENSITY_ESTIMATION,10616,10312,10920,1,TYPICAL
         *     u05kq9,2026-11-23T12:00:00Z,2026-11-23T13:00:00Z,DENSITY_ESTIMATION,31440,30704,32176,1,TYPICAL
         */
        readonly PopulationDensityTable: string;
        /**
         * @description The densities as JSON texts, a line for each cell in each hour. Each is an object with `geohash`, `startTime`, `endTime`, `basis` (`OBSERVED` or `TYPICAL`; `null` where nothing is stored), `dataType`, `pplDensity`, `minPplDensity` and `maxPplDensity` (`null` without an estimate), and `coveredShare`: the share of the cell's area in which people were counted, 0 without data.
         * @example {"geohash":"u05kq8","startTime":"2026-11-23T11:00:00Z","endTime":"2026-11-23T12:00:00Z","basis":"TYPICAL","dataType":"DENSITY_ESTIMATION","pplDensity":10472,"minPplDensity":10168,"maxPplDensity":10776,"coveredShare":1}
         *     {"geohash":"u05kq9","startTime":"2026-11-23T11:00:00Z","endTime":"2026-11-23T12:00:00Z","basis":"TYPICAL","dataType":"DENSITY_ESTIMATION","pplDensity":31296,"minPplDensity":30560,"maxPplDensity":32032,"coveredShare":1}
         *     {"geohash":"u05kq8","startTime":"2026-11-23T12:00:00Z","endTime":"2026-11-23T13:00:00Z","basis":"TYPICAL","dataType":"DENSITY_ESTIMATION","pplDensity":10616,"minPplDensity":10312,"maxPplDensity":10920,"coveredShare":1}
         *     {"geohash":"u05kq9","startTime":"2026-11-23T12:00:00Z","endTime":"2026-11-23T13:00:00Z","basis":"TYPICAL","dataType":"DENSITY_ESTIMATION","pplDensity":31440,"minPplDensity":30704,"maxPplDensity":32176,"coveredShare":1}
         */
        readonly PopulationDensityLines: string;
        /**
         * @description The answer will be delivered to the sink.
         * @example {
         *       "operationId": "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34"
         *     }
         */
        readonly AcceptedOperation: {
            /**
             * Format: uuid
             * @description Comes back with the answer, in the body and as `webhook-id`.
             */
            readonly operationId: string;
        };
        /**
         * @description Totals of an area, hour by hour.
         * @example {
         *       "status": "SUPPORTED_AREA",
         *       "quietestHour": {
         *         "startTime": "2026-11-23T11:00:00Z",
         *         "endTime": "2026-11-23T12:00:00Z",
         *         "people": 21799
         *       },
         *       "busiestHour": {
         *         "startTime": "2026-11-23T12:00:00Z",
         *         "endTime": "2026-11-23T13:00:00Z",
         *         "people": 21949
         *       },
         *       "intervals": [
         *         {
         *           "startTime": "2026-11-23T11:00:00Z",
         *           "endTime": "2026-11-23T12:00:00Z",
         *           "people": 21799,
         *           "minPeople": 21255,
         *           "maxPeople": 22342,
         *           "densestCell": {
         *             "geohash": "u05kq9",
         *             "pplDensity": 31296,
         *             "minPplDensity": 30560,
         *             "maxPplDensity": 32032
         *           },
         *           "groundRisk": [
         *             {
         *               "class": "BELOW_5",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_50",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_500",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_5000",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_50000",
         *               "cells": 2,
         *               "areaKm2": 1.04382
         *             },
         *             {
         *               "class": "FROM_50000",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "LOW_DENSITY",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "NO_DATA",
         *               "cells": 0,
         *               "areaKm2": 0
         *             }
         *           ]
         *         },
         *         {
         *           "startTime": "2026-11-23T12:00:00Z",
         *           "endTime": "2026-11-23T13:00:00Z",
         *           "people": 21949,
         *           "minPeople": 21406,
         *           "maxPeople": 22492,
         *           "densestCell": {
         *             "geohash": "u05kq9",
         *             "pplDensity": 31440,
         *             "minPplDensity": 30704,
         *             "maxPplDensity": 32176
         *           },
         *           "groundRisk": [
         *             {
         *               "class": "BELOW_5",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_50",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_500",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_5000",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "BELOW_50000",
         *               "cells": 2,
         *               "areaKm2": 1.04382
         *             },
         *             {
         *               "class": "FROM_50000",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "LOW_DENSITY",
         *               "cells": 0,
         *               "areaKm2": 0
         *             },
         *             {
         *               "class": "NO_DATA",
         *               "cells": 0,
         *               "areaKm2": 0
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        readonly PopulationDensitySummary: {
            /**
             * @description `SUPPORTED_AREA`: the whole area is covered. `PART_OF_AREA_NOT_SUPPORTED`: the cells that are not covered are `NO_DATA`. `AREA_NOT_SUPPORTED`: nothing of the area is covered; there are no data. `OPERATION_NOT_COMPLETED`: the operation of a sink failed; there are no data.
             * @enum {string}
             */
            readonly status: "SUPPORTED_AREA" | "PART_OF_AREA_NOT_SUPPORTED" | "AREA_NOT_SUPPORTED" | "OPERATION_NOT_COMPLETED";
            /** @description The hour with the fewest people, the first of equals. Absent without an estimate. */
            readonly quietestHour?: {
                /**
                 * Format: date-time
                 * @description Start of the hour, UTC.
                 */
                readonly startTime: string;
                /**
                 * Format: date-time
                 * @description End of the hour, UTC.
                 */
                readonly endTime: string;
                /** @description People in it. */
                readonly people: number;
            };
            /** @description The hour with the most people, the first of equals. Absent without an estimate. */
            readonly busiestHour?: {
                /**
                 * Format: date-time
                 * @description Start of the hour, UTC.
                 */
                readonly startTime: string;
                /**
                 * Format: date-time
                 * @description End of the hour, UTC.
                 */
                readonly endTime: string;
                /** @description People in it. */
                readonly people: number;
            };
            /** @description The hours that cover the period, one after the other. */
            readonly intervals: readonly components["schemas"]["HourSummary"][];
        };
        /** @description Totals of one hour. */
        readonly HourSummary: {
            /**
             * Format: date-time
             * @description Start of the hour, UTC.
             */
            readonly startTime: string;
            /**
             * Format: date-time
             * @description End of the hour, UTC.
             */
            readonly endTime: string;
            /** @description People in the cells that have an estimate: the sum of density × area. Those in `LOW_DENSITY` cells are not counted. Absent without an estimate. */
            readonly people?: number;
            /** @description Sum of the lower ends of the ranges × area. */
            readonly minPeople?: number;
            /** @description Sum of the upper ends of the ranges × covered area. */
            readonly maxPeople?: number;
            /** @description The cell with the greatest density, the first of equals. Absent without an estimate. */
            readonly densestCell?: {
                /** @description The cell. */
                readonly geohash: string;
                /** @description People per km². */
                readonly pplDensity: number;
                /** @description Lower end of the range. */
                readonly minPplDensity: number;
                /** @description Upper end of the range. */
                readonly maxPplDensity: number;
            };
            /** @description Every class, those without a cell too. */
            readonly groundRisk: readonly components["schemas"]["GroundRiskClass"][];
        };
        /** @description The cells of a class of ground risk. */
        readonly GroundRiskClass: {
            readonly class: components["schemas"]["GroundRiskBand"];
            /** @description How many cells. */
            readonly cells: number;
            /** @description Their area on the WGS 84 ellipsoid, in km². */
            readonly areaKm2: number;
        };
        /**
         * @description `BELOW_5` to `BELOW_50000`: `maxPplDensity` is below so many people per km², and not below the class before; `FROM_50000`: it is that or more. These are the bands of Table 2 of JARUS SORA 2.5, less ground that is controlled. `LOW_DENSITY` and `NO_DATA`: cells without an estimate.
         * @enum {string}
         */
        readonly GroundRiskBand: "BELOW_5" | "BELOW_50" | "BELOW_500" | "BELOW_5000" | "BELOW_50000" | "FROM_50000" | "LOW_DENSITY" | "NO_DATA";
        /**
         * @description The summary as CSV (RFC 4180): a header, and a row for each hour, with two columns for each class of ground risk. Numbers without an estimate are empty.
         * @example startTime,endTime,people,minPeople,maxPeople,densestGeohash,densestPplDensity,densestMinPplDensity,densestMaxPplDensity,BELOW_5_cells,BELOW_5_areaKm2,BELOW_50_cells,BELOW_50_areaKm2,BELOW_500_cells,BELOW_500_areaKm2,BELOW_5000_cells,BELOW_5000_areaKm2,BELOW_50000_cells,BELOW_50000_areaKm2,FROM_50000_cells,FROM_50000_areaKm2,LOW_DENSITY_cells,LOW_DENSITY_areaKm2,NO_DATA_cells,NO_DATA_areaKm2,isQuietest,isBusiest
         *     2026-11-23T11:00:00Z,2026-11-23T12:00:00Z,21799,21255,22342,u05kq9,31296,30560,32032,0,0,0,0,0,0,0,0,2,1.04382,0,0,0,0,0,0,true,false
         *     2026-11-23T12:00:00Z,2026-11-23T13:00:00Z,21949,21406,22492,u05kq9,31440,30704,32176,0,0,0,0,0,0,0,0,2,1.04382,0,0,0,0,0,0,false,true
         */
        readonly PopulationDensitySummaryTable: string;
        /**
         * @description What can be asked for, and what the densities are made from.
         * @example {
         *       "precisions": [
         *         3,
         *         4,
         *         5,
         *         6,
         *         7
         *       ],
         *       "area": {
         *         "minPoints": 3,
         *         "maxPoints": 15
         *       },
         *       "period": {
         *         "maxHours": 168,
         *         "monthsBack": 3,
         *         "monthsAhead": 3
         *       },
         *       "limits": {
         *         "synchronous": {
         *           "slots": 40000,
         *           "tileDays": 600
         *         },
         *         "asynchronous": {
         *           "slots": 2000000,
         *           "tileDays": 2600
         *         },
         *         "pendingOperations": 20
         *       },
         *       "suppressionThreshold": 10,
         *       "suppressionThresholds": [
         *         {
         *           "threshold": 10,
         *           "newestObservedDay": "2026-11-14"
         *         },
         *         {
         *           "threshold": 20,
         *           "newestObservedDay": "2026-11-21"
         *         }
         *       ],
         *       "coverage": {
         *         "type": "MultiPolygon",
         *         "bbox": [
         *           4.74609375,
         *           45.703125,
         *           5.09765625,
         *           45.87890625
         *         ],
         *         "coordinates": [
         *           [
         *             [
         *               [
         *                 4.74609375,
         *                 45.703125
         *               ],
         *               [
         *                 5.09765625,
         *                 45.703125
         *               ],
         *               [
         *                 5.09765625,
         *                 45.87890625
         *               ],
         *               [
         *                 4.74609375,
         *                 45.87890625
         *               ],
         *               [
         *                 4.74609375,
         *                 45.703125
         *               ]
         *             ]
         *           ]
         *         ]
         *       },
         *       "coveredShares": [
         *         {
         *           "precision": 3,
         *           "coveredShare": 0.03125
         *         },
         *         {
         *           "precision": 4,
         *           "coveredShare": 1
         *         }
         *       ],
         *       "newestObservedDay": "2026-11-21",
         *       "typicalWeek": {
         *         "weeks": 4,
         *         "timeZone": "Europe/Paris",
         *         "holidays": [
         *           "2026-12-25",
         *           "2027-01-01"
         *         ]
         *       },
         *       "forecastQuality": [
         *         {
         *           "precision": 7,
         *           "days": 28,
         *           "newestObservedDay": "2026-11-21",
         *           "weeks": 3,
         *           "wape": 0.1843,
         *           "withinRange": 0.7629,
         *           "regions": [
         *             [
         *               4.74609375,
         *               45.703125,
         *               5.09765625,
         *               45.87890625
         *             ]
         *           ]
         *         }
         *       ],
         *       "quality": [
         *         {
         *           "day": "2026-11-21",
         *           "hours": 24,
         *           "people": 412340,
         *           "coveredCells": 36517,
         *           "suppressedShare": 0.2113,
         *           "isTypical": true,
         *           "findings": [
         *             {
         *               "code": "PEOPLE_UNUSUAL",
         *               "level": "warning",
         *               "hours": [
         *                 7
         *               ],
         *               "description": "08:00–09:00 Europe/Paris: 31 % fewer people than on the last four Saturdays (298 k, usual 344–519 k)"
         *             }
         *           ]
         *         }
         *       ],
         *       "provenance": [
         *         {
         *           "source": "Counts of the network's devices",
         *           "licence": "CC-BY-4.0"
         *         }
         *       ]
         *     }
         */
        readonly PopulationDensityCapabilities: {
            /** @description Supported lengths of geohashes, ascending. */
            readonly precisions: readonly number[];
            /** @description Limits of a polygon. */
            readonly area: {
                /** @description Vertices that a polygon has at least. */
                readonly minPoints: number;
                /** @description Vertices that a polygon has at most. */
                readonly maxPoints: number;
            };
            /** @description Limits of a period. */
            readonly period: {
                /** @description The longest period. */
                readonly maxHours: number;
                /** @description Calendar months from the earliest startTime to the time of the request. */
                readonly monthsBack: number;
                /** @description Calendar months from the time of the request to the latest endTime. */
                readonly monthsAhead: number;
            };
            /** @description How much may be asked for. */
            readonly limits: {
                /** @description The largest answer without a sink. */
                readonly synchronous: {
                    /** @description Cells × hours. */
                    readonly slots: number;
                    /** @description Stored tiles of 1,024 cells × days: a long narrow area has few cells in many tiles. */
                    readonly tileDays: number;
                };
                /** @description The largest answer to a sink. */
                readonly asynchronous: {
                    /** @description Cells × hours. */
                    readonly slots: number;
                    /** @description Stored tiles of 1,024 cells × days: a long narrow area has few cells in many tiles. */
                    readonly tileDays: number;
                };
                /** @description Operations of one caller that may be pending at the same time. */
                readonly pendingOperations: number;
            };
            /** @description A cell and hour with fewer people is `LOW_DENSITY`: the smallest threshold of all imports. */
            readonly suppressionThreshold: number;
            /** @description Each threshold that densities were imported with, the one of the first import first; more than one after it was raised. Typical weekdays may be made with any of them. Empty before the first import. */
            readonly suppressionThresholds: readonly {
                /** @description A cell and hour with fewer people is `LOW_DENSITY`. */
                readonly threshold: number;
                /**
                 * Format: date
                 * @description The latest day that was observed with this threshold, UTC; earlier ones may be, later ones are not. Absent if only typical weekdays were imported with it.
                 */
                readonly newestObservedDay?: string;
            }[];
            /** @description Around all cells that were ever covered (RFC 7946). Nothing else is in it, unless that takes more than 300 points: then it follows the edges of coarser cells. Absent before the first import. */
            readonly coverage?: {
                /**
                 * @description Of GeoJSON.
                 * @constant
                 */
                readonly type: "MultiPolygon";
                /** @description The box around all cells that were ever covered: west, south, east and north. A west above the east is a box across the antimeridian. */
                readonly bbox: readonly number[];
                /** @description Polygons along the edges of cells; longitude first. At most 300 points. */
                readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[];
            };
            /** @description Which share of the cells that have anything covered in them is covered, at each precision up to that of the cells whose edges `coverage` follows. At finer ones it is larger. */
            readonly coveredShares?: readonly {
                /** @description Of the cells. */
                readonly precision: number;
                /** @description Of their area together. */
                readonly coveredShare: number;
            }[];
            /**
             * Format: date
             * @description The latest day that was observed, UTC. Absent if none was.
             */
            readonly newestObservedDay?: string;
            /** @description What the densities of hours to come are, and of past ones that were not observed. */
            readonly typicalWeek: {
                /** @description Maximum number of weeks, the latest observed ones, that a typical hour is the mean of. */
                readonly weeks: number;
                /** @description IANA name of the time zone whose weekdays and hours it follows. */
                readonly timeZone: string;
                /** @description Local dates in the period that count as Sundays, ascending. */
                readonly holidays: readonly string[];
            };
            /** @description How far typical hours were from what was observed afterwards, in the regions where it was, by precision, the finest first. Empty until an observed day was compared. */
            readonly forecastQuality: readonly {
                /** @description Length of the geohashes. */
                readonly precision: number;
                /** @description Observed days that were compared with the typical weekdays before them, at most the latest 28. */
                readonly days: number;
                /**
                 * Format: date
                 * @description The latest of these days, UTC.
                 */
                readonly newestObservedDay: string;
                /** @description The fewest weeks that any of the typical hours was the mean of; 0: some were not observed, but imported as typical. */
                readonly weeks: number;
                /** @description Weighted absolute percentage error, as a fraction: the sum of all differences between `pplDensity` as it was answered before and as it was observed, by the sum of what was observed. `LOW_DENSITY` counts as 0. Absent if nobody was observed. */
                readonly wape?: number;
                /** @description The share of cells and hours whose observed `pplDensity` was from `minPplDensity` to `maxPplDensity`. */
                readonly withinRange: number;
                /** @description Boxes around the cells that were compared: west, south, east and north, like `bbox` of `coverage`. Of other regions the error is not known. Absent if no box was recorded. */
                readonly regions?: readonly (readonly number[])[];
            }[];
            /** @description How the latest observed days are, the latest first, at most 100, at the precision of the counts: more than coarser densities tell, and never the people of a cell below K. */
            readonly quality: readonly {
                /**
                 * Format: date
                 * @description UTC.
                 */
                readonly day: string;
                /** @description Hours that were counted. */
                readonly hours: number;
                /** @description The mean over these hours of the people in cells with an estimate: sums of numbers of K and more, before they are rounded to densities. */
                readonly people: number;
                /** @description Covered cells, of the precision of the counts. */
                readonly coveredCells: number;
                /** @description The share of these cells that was `LOW_DENSITY`, over all hours. */
                readonly suppressedShare: number;
                /** @description Whether typical weekdays may be made from it; not if the operator has excluded it. */
                readonly isTypical: boolean;
                /** @description Empty for a day like those before. */
                readonly findings: readonly {
                    /** @description What is unusual, by published numbers: `HOURS_MISSING`, `LARGEST_CELL_UNUSUAL`, `PEOPLE_UNUSUAL`, `ROWS_EQUAL`, `SUPPRESSION_UNUSUAL`, `TILES_EMPTY`. There may be others. */
                    readonly code: string;
                    /**
                     * @description The operator has accepted a critical one before the day was published.
                     * @enum {string}
                     */
                    readonly level: "critical" | "warning";
                    /** @description Hours of the day, UTC, ascending. */
                    readonly hours: readonly number[];
                    /** @description A sentence with numbers, for people. */
                    readonly description: string;
                }[];
            }[];
            /** @description Where the numbers come from, as far as it is known; the latest first. */
            readonly provenance: readonly {
                /** @description Who counted, or what the numbers were made from. */
                readonly source: string;
                /** @description Such as an SPDX identifier. */
                readonly licence?: string;
            }[];
        };
        /**
         * @description The caller's operations of the last day, the newest first.
         * @example {
         *       "operations": [
         *         {
         *           "operationId": "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34",
         *           "state": "PENDING",
         *           "requestedAt": "2026-11-22T10:00:00.000Z",
         *           "expiresAt": "2026-11-23T10:00:00.000Z",
         *           "cells": 9,
         *           "intervals": 2,
         *           "attempts": 1,
         *           "lastAttempt": {
         *             "at": "2026-11-22T10:00:00.200Z",
         *             "outcome": "FAILED",
         *             "httpStatus": 503
         *           },
         *           "nextAttemptAt": "2026-11-22T10:00:02.300Z",
         *           "possiblyDelivered": false
         *         }
         *       ]
         *     }
         */
        readonly OperationList: {
            /** @description Those of this page. */
            readonly operations: readonly components["schemas"]["Operation"][];
            /** @description The `pageToken` of the next page; absent on the last. */
            readonly nextPageToken?: string;
        };
        /**
         * @description A request with a sink, without its area, its sink and its credential.
         * @example {
         *       "operationId": "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34",
         *       "state": "PENDING",
         *       "requestedAt": "2026-11-22T10:00:00.000Z",
         *       "expiresAt": "2026-11-23T10:00:00.000Z",
         *       "cells": 9,
         *       "intervals": 2,
         *       "attempts": 1,
         *       "lastAttempt": {
         *         "at": "2026-11-22T10:00:00.200Z",
         *         "outcome": "FAILED",
         *         "httpStatus": 503
         *       },
         *       "nextAttemptAt": "2026-11-22T10:00:02.300Z",
         *       "possiblyDelivered": false
         *     }
         */
        readonly Operation: {
            /**
             * Format: uuid
             * @description The id that 202 gave.
             * @example 7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34
             */
            readonly operationId: string;
            /**
             * @description `PENDING`: it has no outcome yet. `DELIVERED`: the sink answered 2xx to the whole answer. `REFUSED`: the sink refused the answer for good. `FAILED`: the sink was sent a failure, or could be sent nothing any more; `failureReason` says why. `CANCELLED`: by its caller.
             * @enum {string}
             */
            readonly state: "PENDING" | "DELIVERED" | "REFUSED" | "FAILED" | "CANCELLED";
            /**
             * Format: date-time
             * @description When it was requested.
             */
            readonly requestedAt: string;
            /**
             * Format: date-time
             * @description When it has an outcome at the latest, and is forgotten: a day after the request.
             */
            readonly expiresAt: string;
            /** @description Cells of the answer in each interval. */
            readonly cells: number;
            /** @description Hours of the answer. */
            readonly intervals: number;
            /** @description Attempts that have begun. */
            readonly attempts: number;
            readonly lastAttempt?: components["schemas"]["DeliveryAttempt"];
            /**
             * Format: date-time
             * @description When the next attempt is due, after one that failed.
             */
            readonly nextAttemptAt?: string;
            /** @description Whether it is open if the sink holds the whole body, because it was sent and not answered: of an operation that is pending, cancelled or failed. `false` of one that is delivered or refused, where the sink has said so. */
            readonly possiblyDelivered: boolean;
            /**
             * @description Why the sink did not get the answer; only with `FAILED`. `NOT_COMPUTED`: it could not be computed. `ATTEMPTS_EXHAUSTED`: the sink took it at no attempt. `TIME_OVER`: its day was over, or nearly. `TOKEN_EXPIRED`: the access token had expired, so nothing more was sent. `POSSIBLY_DELIVERED`: it was sent, and the sink did not say whether it has it.
             * @enum {string}
             */
            readonly failureReason?: "NOT_COMPUTED" | "ATTEMPTS_EXHAUSTED" | "TIME_OVER" | "TOKEN_EXPIRED" | "POSSIBLY_DELIVERED";
        };
        /** @description One attempt to deliver. */
        readonly DeliveryAttempt: {
            /**
             * Format: date-time
             * @description When it began.
             */
            readonly at: string;
            /**
             * @description What became of it. Absent while it is under way. `FAILED`: the sink did not answer, or with 408, 429 or 5xx. `NOT_COMPUTED`: nothing was sent.
             * @enum {string}
             */
            readonly outcome?: "DELIVERED" | "REFUSED" | "FAILED" | "NOT_COMPUTED";
            /** @description The status that the sink answered with. */
            readonly httpStatus?: number;
        };
        /**
         * @description The answer will be delivered to the sink by an operation of its own.
         * @example {
         *       "operationId": "2f0c9f5e-8f5c-4d0e-9f0f-6a1f0f6f5b7c"
         *     }
         */
        readonly RedeliveryOperation: {
            /**
             * Format: uuid
             * @description The id that 202 gave.
             * @example 7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34
             */
            readonly operationId: string;
        };
        /**
         * @description A secret that signs deliveries from now on.
         * @example {
         *       "id": "3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11",
         *       "createdAt": "2026-11-22T10:00:00.000Z",
         *       "secret": "whsec_bm90IGEgc2VjcmV0LCBhbiBleGFtcGxlIG9mIG9uZSE="
         *     }
         */
        readonly NewWebhookSecret: {
            /**
             * Format: uuid
             * @description The id that 201 gave.
             * @example 3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11
             */
            readonly id: string;
            /** @description The secret, in the form of Standard Webhooks. It is shown only here. */
            readonly secret: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            readonly createdAt: string;
        };
        /**
         * @description The caller's secrets that sign deliveries.
         * @example {
         *       "secrets": [
         *         {
         *           "id": "3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11",
         *           "createdAt": "2026-11-22T10:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        readonly WebhookSecretList: {
            /** @description The oldest first; at most two. */
            readonly secrets: readonly components["schemas"]["WebhookSecret"][];
        };
        /** @description A secret that signs deliveries, without the secret itself. */
        readonly WebhookSecret: {
            /**
             * Format: uuid
             * @description The id that 201 gave.
             * @example 3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11
             */
            readonly id: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            readonly createdAt: string;
        };
        /**
         * @description What became of the number.
         * @example {
         *       "phoneNumberRecycled": true
         *     }
         */
        readonly NumberRecyclingResult: {
            /** @description Whether the subscriber changed after the day. */
            readonly phoneNumberRecycled: boolean;
        };
        /**
         * @description A device. The member `device` is there when several identifiers were sent: the one that was used.
         * @example {
         *       "lastChecked": "2026-02-20T10:41:38.657Z",
         *       "imei": "490154203237518",
         *       "imeisv": "4901542032375101",
         *       "tac": "49015420",
         *       "model": "3110",
         *       "manufacturer": "Nokia"
         *     }
         */
        readonly DeviceIdentifier: {
            /** @description The identifier that was used; absent when one was sent. */
            readonly device?: components["schemas"]["Device"];
            /**
             * Format: date-time
             * @description When the operator last confirmed this.
             */
            readonly lastChecked: string;
            /** @description The device, with its check digit. */
            readonly imei: string;
            /** @description The device, with its software version. */
            readonly imeisv: string;
            /** @description The type of the device. */
            readonly tac: string;
            /** @description The name of the model. */
            readonly model: string;
            /** @description Who makes the model. */
            readonly manufacturer: string;
        };
        /**
         * @description The type of a device. The member `device` is there when several identifiers were sent: the one that was used.
         * @example {
         *       "lastChecked": "2026-02-20T10:41:38.657Z",
         *       "tac": "49015420",
         *       "model": "3110",
         *       "manufacturer": "Nokia"
         *     }
         */
        readonly DeviceType: {
            /** @description The identifier that was used; absent when one was sent. */
            readonly device?: components["schemas"]["Device"];
            /**
             * Format: date-time
             * @description When the operator last confirmed this.
             */
            readonly lastChecked: string;
            /** @description The type of the device. */
            readonly tac: string;
            /** @description The name of the model. */
            readonly model: string;
            /** @description Who makes the model. */
            readonly manufacturer: string;
        };
        /**
         * @description A pseudonym of a device. The member `device` is there when several identifiers were sent: the one that was used.
         * @example {
         *       "lastChecked": "2026-02-20T10:41:38.657Z",
         *       "ppid": "b083f65ccdad365d7489fff24b6d5074b30c12b6d81db3404d25964ffd908813"
         *     }
         */
        readonly DevicePpid: {
            /** @description The identifier that was used; absent when one was sent. */
            readonly device?: components["schemas"]["Device"];
            /**
             * Format: date-time
             * @description When the operator last confirmed this.
             */
            readonly lastChecked: string;
            /** @description The device, for this client alone. */
            readonly ppid: string;
        };
        /**
         * @description A JSON Web Key Set (RFC 7517).
         * @example {
         *       "keys": [
         *         {
         *           "kty": "EC",
         *           "crv": "P-256",
         *           "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
         *           "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
         *           "kid": "2026-11-20",
         *           "alg": "ES256",
         *           "use": "sig"
         *         }
         *       ]
         *     }
         */
        readonly KeySet: {
            /** @description The keys that are in use, and will be. */
            readonly keys: readonly components["schemas"]["PublicKey"][];
        };
        /** @description A public key that verifies access tokens (RFC 7517). */
        readonly PublicKey: {
            /**
             * @description The family of the key: elliptic curve.
             * @constant
             */
            readonly kty: "EC";
            /**
             * @description The curve.
             * @constant
             */
            readonly crv: "P-256";
            /** @description The x coordinate, base64url. */
            readonly x: string;
            /** @description The y coordinate, base64url. */
            readonly y: string;
            /** @description The name of the key; tokens have it in their header. */
            readonly kid: string;
            /**
             * @description The algorithm of the signatures.
             * @constant
             */
            readonly alg: "ES256";
            /**
             * @description What the key is for: signatures.
             * @constant
             */
            readonly use: "sig";
        };
        /**
         * @description An OpenAPI document (OpenAPI Specification 3.1).
         * @example {
         *       "openapi": "3.1.0",
         *       "info": {
         *         "title": "Network Capabilities Service",
         *         "version": "0.2.0"
         *       },
         *       "servers": [
         *         {
         *           "url": "https://api.example.com/live",
         *           "description": "The server that was asked."
         *         }
         *       ],
         *       "paths": {}
         *     }
         */
        readonly OpenApiDocument: {
            /** @description The version of the OpenAPI Specification. */
            readonly openapi: string;
            /** @description What the document is about. */
            readonly info: {
                /** @description The name of the service. */
                readonly title: string;
                /** @description The version of the service. */
                readonly version: string;
            } & {
                readonly [key: string]: unknown;
            };
            /** @description The server that was asked, then others. */
            readonly servers: readonly {
                /** @description The address that paths follow. */
                readonly url: string;
                /** @description Which server it is. */
                readonly description?: string;
            }[];
            /** @description The operations by path. */
            readonly paths: {
                readonly [key: string]: unknown;
            };
        } & {
            readonly [key: string]: unknown;
        };
        /**
         * @description An API catalogue (RFC 9727) as a set of links (RFC 9264).
         * @example {
         *       "linkset": [
         *         {
         *           "anchor": "https://api.example.com/live/.well-known/api-catalog",
         *           "item": [
         *             {
         *               "href": "https://api.example.com/live/qualityondemand"
         *             }
         *           ]
         *         },
         *         {
         *           "anchor": "https://api.example.com/live/qualityondemand",
         *           "service-desc": [
         *             {
         *               "href": "https://api.example.com/live/openapi.json",
         *               "type": "application/json"
         *             }
         *           ],
         *           "service-doc": [
         *             {
         *               "href": "https://api.example.com/live/reference",
         *               "type": "text/html"
         *             },
         *             {
         *               "href": "https://api.example.com/live/llms.txt",
         *               "type": "text/plain"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        readonly ApiCatalog: {
            /** @description The catalogue itself, then each of the APIs. */
            readonly linkset: readonly {
                /** @description What the links begin at. */
                readonly anchor: string;
                /** @description Of the catalogue: its APIs. */
                readonly item?: readonly {
                    /** @description Where the link leads. */
                    readonly href: string;
                    /** @description The media type of what is there. */
                    readonly type?: string;
                }[];
                /** @description Of an API: its description for programs. */
                readonly "service-desc"?: readonly {
                    /** @description Where the link leads. */
                    readonly href: string;
                    /** @description The media type of what is there. */
                    readonly type?: string;
                }[];
                /** @description Of an API: its description for people and agents. */
                readonly "service-doc"?: readonly {
                    /** @description Where the link leads. */
                    readonly href: string;
                    /** @description The media type of what is there. */
                    readonly type?: string;
                }[];
            }[];
        };
        /** @description The body of every error, also that of a path that does not exist (404) and of a verb that a path does not have (405, with those that it has in `Allow`). */
        readonly ErrorInfo: {
            /** @description HTTP status code. */
            readonly status: number;
            /** @description Error code. */
            readonly code: string;
            /** @description What went wrong, for a person to read. */
            readonly message: string;
        };
        /**
         * @description Correlation id.
         * @example b4333c46-49c0-4f62-80d7-f0ef930f1c46
         */
        readonly XCorrelator: string;
    };
    responses: {
        /**
         * @description Bad Request.
         *
         *     - `INVALID_ARGUMENT`: The request has an invalid argument.
         */
        readonly INVALID_ARGUMENT: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Unauthorized.
         *
         *     - `UNAUTHENTICATED`: Credentials are missing, invalid or expired.
         */
        readonly UNAUTHENTICATED: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Too Many Requests.
         *
         *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
         */
        readonly TOO_MANY_REQUESTS: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "Retry-After": components["headers"]["RetryAfter"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Internal Server Error.
         *
         *     - `INTERNAL`: The service failed to answer.
         */
        readonly INTERNAL: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Service Unavailable.
         *
         *     - `UNAVAILABLE`: The service is temporarily unavailable.
         */
        readonly UNAVAILABLE: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "Retry-After": components["headers"]["RetryAfter"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Gateway Timeout.
         *
         *     - `TIMEOUT`: The service did not answer in time.
         */
        readonly TIMEOUT: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Unauthorized.
         *
         *     - `INVALID_CLIENT`: The client is not authenticated.
         */
        readonly INVALID_CLIENT: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Forbidden.
         *
         *     - `PERMISSION_DENIED`: The credentials do not permit this operation.
         */
        readonly PERMISSION_DENIED: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "WWW-Authenticate": components["headers"]["InsufficientScope"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Not Found.
         *
         *     - `NOT_FOUND`: There is no such resource.
         */
        readonly NOT_FOUND: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Not Acceptable.
         *
         *     - `NOT_ACCEPTABLE`: Accept excludes every media type of the response.
         */
        readonly NOT_ACCEPTABLE: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly vary: components["headers"]["Vary"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Conflict.
         *
         *     - `POPULATION_DENSITY_DATA.OPERATION_ENDED`: The operation has already ended and cannot be cancelled.
         */
        readonly "POPULATION_DENSITY_DATA.OPERATION_ENDED": {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Conflict.
         *
         *     - `POPULATION_DENSITY_DATA.OPERATION_PENDING`: The operation is still pending: wait for its outcome, or cancel it.
         */
        readonly "POPULATION_DENSITY_DATA.OPERATION_PENDING": {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
        /**
         * @description Not Found.
         *
         *     - `IDENTIFIER_NOT_FOUND`: The identifier does not belong to a known device or number.
         */
        readonly IDENTIFIER_NOT_FOUND: {
            headers: {
                readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                readonly "x-request-id": components["headers"]["XRequestId"];
                readonly "cache-control": components["headers"]["NoStore"];
                readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorInfo"];
            };
        };
    };
    parameters: {
        /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
        readonly "x-correlator": components["schemas"]["XCorrelator"];
        /**
         * @description How the response may be compressed. Browsers and most clients send it by themselves.
         * @example gzip
         */
        readonly AcceptEncoding: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The id of the request in the service's logs.
         * @example c6af9ac6-7b61-11e6-9a41-93e8deadbeef
         */
        readonly XRequestId: string;
        /** @description The `x-correlator` of the request. Without one, a value of the service's own. */
        readonly XCorrelator: components["schemas"]["XCorrelator"];
        /**
         * @description The `x-correlator` of the request. Without a valid one, a value of the service's own. A response that is made before a function runs repeats what was sent, valid or not, and lacks it if nothing was sent.
         * @example b4333c46-49c0-4f62-80d7-f0ef930f1c46
         */
        readonly RefusedCorrelator: string;
        /**
         * @description The scheme to authenticate with.
         * @example Bearer
         */
        readonly WwwAuthenticate: "Bearer";
        /**
         * @description The scope that the token lacks (RFC 6750).
         * @example Bearer error="insufficient_scope", scope="number-recycling:check"
         */
        readonly InsufficientScope: string;
        /**
         * @description The response must not be cached.
         * @example no-store
         */
        readonly NoStore: "no-store";
        /**
         * @description The headers of the request on which the response depends.
         * @example accept-encoding
         */
        readonly Vary: string;
        /**
         * @description How the body is compressed, if the request accepts that (`Accept-Encoding`).
         * @example gzip
         */
        readonly ContentEncoding: "gzip" | "deflate";
        /**
         * @description Seconds to wait before the next attempt.
         * @example 1
         */
        readonly RetryAfter: number;
        /**
         * @description How much the limit allows in its window of time: requests in a minute or a day in UTC, of the two the one that is nearer; failures of a login in 15 minutes.
         * @example 1200
         */
        readonly RateLimitLimit: number;
        /**
         * @description How much of that is left. With 429 it is 0, but for a density request whose work is more than the day has left: then it is what is left.
         * @example 1199
         */
        readonly RateLimitRemaining: number;
        /**
         * @description Seconds until the window ends.
         * @example 60
         */
        readonly RateLimitReset: number;
    };
    pathItems: never;
}
export type Credentials = components['schemas']['Credentials'];
export type QosProfileCriteria = components['schemas']['QosProfileCriteria'];
export type Device = components['schemas']['Device'];
export type PhoneNumber = components['schemas']['PhoneNumber'];
export type Ipv4Address = components['schemas']['Ipv4Address'];
export type SingleIpv4Address = components['schemas']['SingleIpv4Address'];
export type Port = components['schemas']['Port'];
export type Ipv6Address = components['schemas']['Ipv6Address'];
export type NetworkAccessIdentifier = components['schemas']['NetworkAccessIdentifier'];
export type QosProfileName = components['schemas']['QosProfileName'];
export type QosProfileStatus = components['schemas']['QosProfileStatus'];
export type PopulationDensityRequest = components['schemas']['PopulationDensityRequest'];
export type Area = components['schemas']['Area'];
export type Point = components['schemas']['Point'];
export type Precision = components['schemas']['Precision'];
export type SinkCredential = components['schemas']['SinkCredential'];
export type PopulationDensityDelivery = components['schemas']['PopulationDensityDelivery'];
export type TimedPopulationDensity = components['schemas']['TimedPopulationDensity'];
export type CellPopulationDensity = components['schemas']['CellPopulationDensity'];
export type PopulationDensitySummaryRequest = components['schemas']['PopulationDensitySummaryRequest'];
export type Redelivery = components['schemas']['Redelivery'];
export type NumberRecyclingCheck = components['schemas']['NumberRecyclingCheck'];
export type DeviceIdentifierRequest = components['schemas']['DeviceIdentifierRequest'];
export type ProfileAuthenticateResponse = components['schemas']['ProfileAuthenticateResponse'];
export type UserProfile = components['schemas']['UserProfile'];
export type QosProfiles = components['schemas']['QosProfiles'];
export type QosProfile = components['schemas']['QosProfile'];
export type CountryAvailability = components['schemas']['CountryAvailability'];
export type Rate = components['schemas']['Rate'];
export type Duration = components['schemas']['Duration'];
export type PopulationDensity = components['schemas']['PopulationDensity'];
export type PopulationDensityFeatures = components['schemas']['PopulationDensityFeatures'];
export type CellFeature = components['schemas']['CellFeature'];
export type PopulationDensityHourlyFeatures = components['schemas']['PopulationDensityHourlyFeatures'];
export type CellHourFeature = components['schemas']['CellHourFeature'];
export type PopulationDensityTable = components['schemas']['PopulationDensityTable'];
export type PopulationDensityLines = components['schemas']['PopulationDensityLines'];
export type AcceptedOperation = components['schemas']['AcceptedOperation'];
export type PopulationDensitySummary = components['schemas']['PopulationDensitySummary'];
export type HourSummary = components['schemas']['HourSummary'];
export type GroundRiskClass = components['schemas']['GroundRiskClass'];
export type GroundRiskBand = components['schemas']['GroundRiskBand'];
export type PopulationDensitySummaryTable = components['schemas']['PopulationDensitySummaryTable'];
export type PopulationDensityCapabilities = components['schemas']['PopulationDensityCapabilities'];
export type OperationList = components['schemas']['OperationList'];
export type Operation = components['schemas']['Operation'];
export type DeliveryAttempt = components['schemas']['DeliveryAttempt'];
export type RedeliveryOperation = components['schemas']['RedeliveryOperation'];
export type NewWebhookSecret = components['schemas']['NewWebhookSecret'];
export type WebhookSecretList = components['schemas']['WebhookSecretList'];
export type WebhookSecret = components['schemas']['WebhookSecret'];
export type NumberRecyclingResult = components['schemas']['NumberRecyclingResult'];
export type DeviceIdentifier = components['schemas']['DeviceIdentifier'];
export type DeviceType = components['schemas']['DeviceType'];
export type DevicePpid = components['schemas']['DevicePpid'];
export type KeySet = components['schemas']['KeySet'];
export type PublicKey = components['schemas']['PublicKey'];
export type OpenApiDocument = components['schemas']['OpenApiDocument'];
export type ApiCatalog = components['schemas']['ApiCatalog'];
export type ErrorInfo = components['schemas']['ErrorInfo'];
export type XCorrelator = components['schemas']['XCorrelator'];
export type ResponseInvalidArgument = components['responses']['INVALID_ARGUMENT'];
export type ResponseUnauthenticated = components['responses']['UNAUTHENTICATED'];
export type ResponseTooManyRequests = components['responses']['TOO_MANY_REQUESTS'];
export type ResponseInternal = components['responses']['INTERNAL'];
export type ResponseUnavailable = components['responses']['UNAVAILABLE'];
export type ResponseTimeout = components['responses']['TIMEOUT'];
export type ResponseInvalidClient = components['responses']['INVALID_CLIENT'];
export type ResponsePermissionDenied = components['responses']['PERMISSION_DENIED'];
export type ResponseNotFound = components['responses']['NOT_FOUND'];
export type ResponseNotAcceptable = components['responses']['NOT_ACCEPTABLE'];
export type ResponsePopulationDensityDataOperationEnded = components['responses']['POPULATION_DENSITY_DATA.OPERATION_ENDED'];
export type ResponsePopulationDensityDataOperationPending = components['responses']['POPULATION_DENSITY_DATA.OPERATION_PENDING'];
export type ResponseIdentifierNotFound = components['responses']['IDENTIFIER_NOT_FOUND'];
export type ParameterXCorrelator = components['parameters']['x-correlator'];
export type ParameterAcceptEncoding = components['parameters']['AcceptEncoding'];
export type HeaderXRequestId = components['headers']['XRequestId'];
export type HeaderXCorrelator = components['headers']['XCorrelator'];
export type HeaderRefusedCorrelator = components['headers']['RefusedCorrelator'];
export type HeaderWwwAuthenticate = components['headers']['WwwAuthenticate'];
export type HeaderInsufficientScope = components['headers']['InsufficientScope'];
export type HeaderNoStore = components['headers']['NoStore'];
export type HeaderVary = components['headers']['Vary'];
export type HeaderContentEncoding = components['headers']['ContentEncoding'];
export type HeaderRetryAfter = components['headers']['RetryAfter'];
export type HeaderRateLimitLimit = components['headers']['RateLimitLimit'];
export type HeaderRateLimitRemaining = components['headers']['RateLimitRemaining'];
export type HeaderRateLimitReset = components['headers']['RateLimitReset'];
export type $defs = Record<string, never>;
export interface operations {
    readonly authenticateProfile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Credentials"];
            };
        };
        readonly responses: {
            /** @description The access token and the profile. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProfileAuthenticateResponse"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 429: components["responses"]["TOO_MANY_REQUESTS"];
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly issueToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/x-www-form-urlencoded": {
                    /** @description `client_credentials` for a 2-legged token, `urn:ietf:params:oauth:grant-type:jwt-bearer` for a 3-legged one. */
                    readonly grant_type: string;
                    /** @description Scopes and at most one purpose, separated by spaces. */
                    readonly scope?: string;
                    /** @description The JWT of a jwt-bearer grant (RFC 7523, section 2.1). */
                    readonly assertion?: string;
                    /** @description The client, which its assertion names too. */
                    readonly client_id?: string;
                    /** @description `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with `client_assertion`. */
                    readonly client_assertion_type?: string;
                    /** @description The JWT that authenticates the client (RFC 7523, section 2.2). */
                    readonly client_assertion?: string;
                    /** @description Refused: clients have keys, and no secrets. */
                    readonly client_secret?: string;
                };
            };
        };
        readonly responses: {
            /** @description The token. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly pragma: "no-cache";
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description A JWT to send as a bearer token. */
                        readonly access_token: string;
                        /**
                         * @description How to send it.
                         * @constant
                         */
                        readonly token_type: "Bearer";
                        /** @description The seconds for which it is valid. */
                        readonly expires_in: number;
                        /** @description What was granted. */
                        readonly scope: string;
                    };
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `INVALID_GRANT`: The assertion is invalid, expired or used before, or its subject is unknown.
             *     - `INVALID_SCOPE`: The scope is missing or malformed, or the client may not have it.
             *     - `UNAUTHORIZED_CLIENT`: The client may not use this grant.
             *     - `UNSUPPORTED_GRANT_TYPE`: Unsupported grant type.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["INVALID_CLIENT"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly publishMetadata: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The metadata. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": "public, max-age=300";
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @description The `iss` of the tokens. */
                        readonly issuer: string;
                        /** @description Where tokens are issued. */
                        readonly token_endpoint: string;
                        /** @description The keys that verify the tokens. */
                        readonly jwks_uri: string;
                        /** @description The scopes of the API. */
                        readonly scopes_supported: readonly string[];
                        /** @description None: there is no authorization endpoint. */
                        readonly response_types_supported: readonly string[];
                        /** @description How tokens are granted. */
                        readonly grant_types_supported: readonly string[];
                        /** @description How clients are authenticated. */
                        readonly token_endpoint_auth_methods_supported: readonly string[];
                        /** @description How assertions are signed. */
                        readonly token_endpoint_auth_signing_alg_values_supported: readonly string[];
                    };
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly retrieveQosProfiles: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["QosProfileCriteria"];
            };
        };
        readonly responses: {
            /** @description The profiles that match, by name; empty when none does. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["QosProfiles"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `OUT_OF_RANGE`: A value of the request is outside its range.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Not Found.
             *
             *     - `NOT_FOUND`: There is no such resource.
             *     - `IDENTIFIER_NOT_FOUND`: The identifier does not belong to a known device or number.
             */
            readonly 404: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Unprocessable Entity.
             *
             *     - `SERVICE_NOT_APPLICABLE`: The service does not apply to this device or number.
             *     - `UNSUPPORTED_IDENTIFIER`: None of the identifiers sent is supported.
             *     - `UNNECESSARY_IDENTIFIER`: The access token already identifies the device: send no identifier.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly getQosProfile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path: {
                /**
                 * @description The unique name of a QoS profile.
                 * @example QOS_E
                 */
                readonly name: components["schemas"]["QosProfileName"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A named set of network quality parameters. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["QosProfile"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `OUT_OF_RANGE`: A value of the request is outside its range.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["NOT_FOUND"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly retrievePopulationDensity: {
        readonly parameters: {
            readonly query?: {
                readonly geometry?: "POINT" | "WKT";
                readonly featuresPer?: "CELL" | "HOUR";
            };
            readonly header?: {
                /** @example my-order-1 */
                readonly "Idempotency-Key"?: string;
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
                /**
                 * @description How the response may be compressed. Browsers and most clients send it by themselves.
                 * @example gzip
                 */
                readonly "accept-encoding"?: components["parameters"]["AcceptEncoding"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PopulationDensityRequest"];
            };
        };
        readonly responses: {
            /** @description The densities of the cells that share area with the polygon, hour by hour. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly vary: components["headers"]["Vary"];
                    readonly "content-encoding": components["headers"]["ContentEncoding"];
                    /** @description The `status` of the answer, in every format. */
                    readonly "x-area-status": string;
                    /** @description What the intervals are made from, in their order: a list (RFC 9651) such as `OBSERVED;hours=20, TYPICAL;hours=4`. `OBSERVED`: counted in these hours. `TYPICAL`: of a typical weekday. `MIXED`: some cells are the one and some the other. `NONE`: nothing is stored. */
                    readonly "x-density-basis": string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PopulationDensity"];
                    readonly "application/geo+json": components["schemas"]["PopulationDensityFeatures"] | components["schemas"]["PopulationDensityHourlyFeatures"];
                    readonly "text/csv": components["schemas"]["PopulationDensityTable"];
                    readonly "application/x-ndjson": components["schemas"]["PopulationDensityLines"];
                };
            };
            /** @description The answer will be delivered to the sink. */
            readonly 202: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    /** @description Where the operation can be followed. */
                    readonly location: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AcceptedOperation"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `INVALID_CREDENTIAL`: Only credentials of type ACCESSTOKEN are supported.
             *     - `INVALID_TOKEN`: Only bearer tokens are supported.
             *     - `INVALID_SINK`: The sink must be an https URL with a public host name, not an address, without user information and fragment.
             *     - `POPULATION_DENSITY_DATA.INVALID_AREA`: The area must be a POLYGON of 3 to 15 points whose edges enclose an area and do not meet.
             *     - `POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED`: The startTime is more than 3 months ahead.
             *     - `POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED`: The startTime is more than 3 months ago.
             *     - `POPULATION_DENSITY_DATA.INVALID_END_TIME`: The endTime is before startTime.
             *     - `POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED`: The period is longer than 7 days.
             *     - `POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD`: The period is partly in the past and partly in the future.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["NOT_FOUND"];
            readonly 406: components["responses"]["NOT_ACCEPTABLE"];
            /**
             * @description Unprocessable Entity.
             *
             *     - `POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST`: Area, period and precision together exceed the size limit.
             *     - `POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION`: The precision is not supported.
             *     - `POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE`: Area, period and precision together exceed the size limit of an answer without a sink.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly summarizePopulationDensity: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
                /**
                 * @description How the response may be compressed. Browsers and most clients send it by themselves.
                 * @example gzip
                 */
                readonly "accept-encoding"?: components["parameters"]["AcceptEncoding"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PopulationDensitySummaryRequest"];
            };
        };
        readonly responses: {
            /** @description Totals of an area, hour by hour. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly vary: components["headers"]["Vary"];
                    readonly "content-encoding": components["headers"]["ContentEncoding"];
                    /** @description The `status` of the answer, in every format. */
                    readonly "x-area-status": string;
                    /** @description What the intervals are made from, in their order: a list (RFC 9651) such as `OBSERVED;hours=20, TYPICAL;hours=4`. `OBSERVED`: counted in these hours. `TYPICAL`: of a typical weekday. `MIXED`: some cells are the one and some the other. `NONE`: nothing is stored. */
                    readonly "x-density-basis": string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PopulationDensitySummary"];
                    readonly "text/csv": components["schemas"]["PopulationDensitySummaryTable"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `POPULATION_DENSITY_DATA.INVALID_AREA`: The area must be a POLYGON of 3 to 15 points whose edges enclose an area and do not meet.
             *     - `POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED`: The startTime is more than 3 months ahead.
             *     - `POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED`: The startTime is more than 3 months ago.
             *     - `POPULATION_DENSITY_DATA.INVALID_END_TIME`: The endTime is before startTime.
             *     - `POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED`: The period is longer than 7 days.
             *     - `POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD`: The period is partly in the past and partly in the future.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 406: components["responses"]["NOT_ACCEPTABLE"];
            /**
             * @description Unprocessable Entity.
             *
             *     - `POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST`: Area, period and precision together exceed the size limit.
             *     - `POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION`: The precision is not supported.
             *     - `POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE`: Area, period and precision together exceed the size limit of an answer without a sink.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly retrieveDensityCapabilities: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What can be asked for, and what the densities are made from. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PopulationDensityCapabilities"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly listDensityOperations: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "PENDING" | "DELIVERED" | "REFUSED" | "FAILED" | "CANCELLED";
                readonly perPage?: number;
                readonly pageToken?: string;
            };
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The caller's operations of the last day, the newest first. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OperationList"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly getDensityOperation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path: {
                /**
                 * @description The id that 202 gave.
                 * @example 7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34
                 */
                readonly operationId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A request with a sink, without its area, its sink and its credential. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Operation"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["NOT_FOUND"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly cancelDensityOperation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path: {
                /**
                 * @description The id that 202 gave.
                 * @example 7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34
                 */
                readonly operationId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A request with a sink, without its area, its sink and its credential. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Operation"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["NOT_FOUND"];
            readonly 409: components["responses"]["POPULATION_DENSITY_DATA.OPERATION_ENDED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly redeliverDensityOperation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @example my-order-1 */
                readonly "Idempotency-Key"?: string;
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path: {
                /**
                 * @description The id that 202 gave.
                 * @example 7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34
                 */
                readonly operationId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Redelivery"];
            };
        };
        readonly responses: {
            /** @description The answer will be delivered to the sink by an operation of its own. */
            readonly 202: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    /** @description Where the new operation can be followed. */
                    readonly location: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedeliveryOperation"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `INVALID_CREDENTIAL`: Only credentials of type ACCESSTOKEN are supported.
             *     - `INVALID_TOKEN`: Only bearer tokens are supported.
             *     - `INVALID_SINK`: The sink must be an https URL with a public host name, not an address, without user information and fragment.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["NOT_FOUND"];
            readonly 409: components["responses"]["POPULATION_DENSITY_DATA.OPERATION_PENDING"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly listWebhookSecrets: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The caller's secrets that sign deliveries. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookSecretList"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly createWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A secret that signs deliveries from now on. */
            readonly 201: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NewWebhookSecret"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly deleteWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path: {
                /**
                 * @description The id that 201 gave.
                 * @example 3f0d6f2e-6a0b-4c55-8f0e-9a4c1f7b2d11
                 */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The caller's secrets that sign deliveries. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookSecretList"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly checkNumberRecycling: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NumberRecyclingCheck"];
            };
        };
        readonly responses: {
            /** @description What became of the number. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NumberRecyclingResult"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `OUT_OF_RANGE`: A value of the request is outside its range.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["IDENTIFIER_NOT_FOUND"];
            /**
             * @description Unprocessable Entity.
             *
             *     - `SERVICE_NOT_APPLICABLE`: The service does not apply to this device or number.
             *     - `UNNECESSARY_IDENTIFIER`: The access token already identifies the device: send no identifier.
             *     - `MISSING_IDENTIFIER`: The access token identifies no device: send an identifier.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly retrieveIdentifier: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DeviceIdentifierRequest"];
            };
        };
        readonly responses: {
            /** @description A device. The member `device` is there when several identifiers were sent: the one that was used. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeviceIdentifier"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `OUT_OF_RANGE`: A value of the request is outside its range.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["IDENTIFIER_NOT_FOUND"];
            /**
             * @description Unprocessable Entity.
             *
             *     - `SERVICE_NOT_APPLICABLE`: The service does not apply to this device or number.
             *     - `UNSUPPORTED_IDENTIFIER`: None of the identifiers sent is supported.
             *     - `UNNECESSARY_IDENTIFIER`: The access token already identifies the device: send no identifier.
             *     - `MISSING_IDENTIFIER`: The access token identifies no device: send an identifier.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly retrieveType: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DeviceIdentifierRequest"];
            };
        };
        readonly responses: {
            /** @description The type of a device. The member `device` is there when several identifiers were sent: the one that was used. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeviceType"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `OUT_OF_RANGE`: A value of the request is outside its range.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["IDENTIFIER_NOT_FOUND"];
            /**
             * @description Unprocessable Entity.
             *
             *     - `SERVICE_NOT_APPLICABLE`: The service does not apply to this device or number.
             *     - `UNSUPPORTED_IDENTIFIER`: None of the identifiers sent is supported.
             *     - `UNNECESSARY_IDENTIFIER`: The access token already identifies the device: send no identifier.
             *     - `MISSING_IDENTIFIER`: The access token identifies no device: send an identifier.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly retrievePpid: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DeviceIdentifierRequest"];
            };
        };
        readonly responses: {
            /** @description A pseudonym of a device. The member `device` is there when several identifiers were sent: the one that was used. */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DevicePpid"];
                };
            };
            /**
             * @description Bad Request.
             *
             *     - `INVALID_ARGUMENT`: The request has an invalid argument.
             *     - `OUT_OF_RANGE`: A value of the request is outside its range.
             */
            readonly 400: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 401: components["responses"]["UNAUTHENTICATED"];
            readonly 403: components["responses"]["PERMISSION_DENIED"];
            readonly 404: components["responses"]["IDENTIFIER_NOT_FOUND"];
            /**
             * @description Unprocessable Entity.
             *
             *     - `SERVICE_NOT_APPLICABLE`: The service does not apply to this device or number.
             *     - `UNSUPPORTED_IDENTIFIER`: None of the identifiers sent is supported.
             *     - `UNNECESSARY_IDENTIFIER`: The access token already identifies the device: send no identifier.
             *     - `MISSING_IDENTIFIER`: The access token identifies no device: send an identifier.
             */
            readonly 422: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            /**
             * @description Too Many Requests.
             *
             *     - `QUOTA_EXCEEDED`: The quota of requests is used up.
             *     - `TOO_MANY_REQUESTS`: Too many requests in a short time.
             */
            readonly 429: {
                headers: {
                    readonly "x-correlator": components["headers"]["RefusedCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": components["headers"]["NoStore"];
                    readonly "Retry-After": components["headers"]["RetryAfter"];
                    readonly "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    readonly "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    readonly "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorInfo"];
                };
            };
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly getPublicKeys: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A JSON Web Key Set (RFC 7517). */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": "public, max-age=300";
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeySet"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly getOpenApiDocument: {
        readonly parameters: {
            readonly query?: {
                /** @description `false` leaves out the second path of each operation, for generators of clients. */
                readonly aliases?: "true" | "false";
            };
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
                /**
                 * @description How the response may be compressed. Browsers and most clients send it by themselves.
                 * @example gzip
                 */
                readonly "accept-encoding"?: components["parameters"]["AcceptEncoding"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An OpenAPI document (OpenAPI Specification 3.1). */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly vary: components["headers"]["Vary"];
                    readonly "content-encoding": components["headers"]["ContentEncoding"];
                    readonly "cache-control": "public, max-age=300";
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OpenApiDocument"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
    readonly getApiCatalog: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Echoed in the response; without it the function that answers chooses one. Send the name in lower case: before a function runs, another case may not be recognised. */
                readonly "x-correlator"?: components["parameters"]["x-correlator"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An API catalogue (RFC 9727) as a set of links (RFC 9264). */
            readonly 200: {
                headers: {
                    readonly "x-correlator": components["headers"]["XCorrelator"];
                    readonly "x-request-id": components["headers"]["XRequestId"];
                    readonly "cache-control": "public, max-age=300";
                    readonly link: "<api-catalog>; rel=\"api-catalog\"";
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/linkset+json": components["schemas"]["ApiCatalog"];
                };
            };
            readonly 400: components["responses"]["INVALID_ARGUMENT"];
            readonly 500: components["responses"]["INTERNAL"];
            readonly 503: components["responses"]["UNAVAILABLE"];
            readonly 504: components["responses"]["TIMEOUT"];
        };
    };
}
