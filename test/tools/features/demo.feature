Feature: What the service answers with the demo data

  Background: Common setup
    Given an environment at "apiRoot"

  Rule: QoS profiles are found

    Background: Common setup of profiles
      Given the resource "/qualityondemand/retrieve-qos-profiles"
      And the header "Authorization" is set to a valid access token
      And the header "x-correlator" complies with the schema at "#/components/schemas/XCorrelator"
      And the header "Content-Type" is set to "application/json"
      And the request body is set by default to a request body compliant with the schema

    @profiles_by_status
    Scenario Outline: Profiles of a status
      Given the request body property "$.STATUS" is set to the value <status>
      When the request "retrieveQosProfiles" is sent
      Then the response status code is 200
      And the response header "x-correlator" has same value as the request header "x-correlator"
      And each item of the response array, if any, complies with the OAS schema at "/components/schemas/QosProfile"
      And each item of the response array, if any, has property "$[*].status" equal to <status>

      Examples:
        | status   |
        | ACTIVE   |
        | INACTIVE |

    @profiles_expired
    Scenario: An expired token
      Given an expired access token
      When the HTTP "POST" request is sent
      Then the response status code is 401
      And the response property "$.code" is "UNAUTHENTICATED"

  Rule: Densities are delivered

    Background: Common setup of densities
      Given the resource "/populationdensitydata/retrieve"
      And the header "Authorization" is set to a valid access token
      And the request body is set by default to a request body compliant with the schema
      And the request body property "$.sink" is set to a valid HTTPS URL
      And the request body property "$.sinkCredential" is set to a valid credential with property "$.sinkCredential.credentialType" set to "ACCESSTOKEN"

    @densities_delivered
    Scenario: Densities at a sink
      When the request "retrievePopulationDensity" is sent
      Then the response status code is 202
      And the request with the response body will be received at the address of the request property "$.sink"
      And the request will have header "Authorization" set to "Bearer " + the value of the request property "$.sinkCredential.accessToken"
      And the request will have property "$.operationId" equal to response property "$.operationId"
      And the request body complies with the OAS schema at "/components/schemas/PopulationDensityDelivery"
