Feature: Lockers, v1, an API that no one offers

  Background: Common setup
    Given an environment at "apiRoot"

  Rule: Lockers are found

    Background: Common find setup
      Given the resource "/lockers/v1/find"
      And the header "Authorization" is set to a valid access token
      And the header "x-correlator" complies with the schema at "#/components/schemas/XCorrelator"
      And the header "Content-Type" is set to "application/json"
      And the request body is set by default to a request body compliant with the schema

    @find_all
    Scenario: Lockers for anyone
      When the request "findLockers" is sent
      Then the response status code is 200
      And the response header "Content-Type" is "application/json"
      And the response header "x-correlator" has same value as the request header "x-correlator"
      And each item of the response array complies with the OAS schema at "/components/schemas/Locker"
      And no restricted QoS Profile is included in the response

    @find_by_status
    Scenario Outline: Lockers of a status
      Given the request body property "$.status" is set to the value <status>
      When the request "findLockers" is sent
      Then each item of the response array, if any, complies with the OAS schema at "/components/schemas/Locker"
      And each item of the response array, if any, has property "$[*].status" equal to <status>

      Examples:
        | status   |
        | ACTIVE   |
        | INACTIVE |

    @find_by_name
    Scenario: One locker by its name
      Given the request body property "$.name" is set to an existing QoS profile name
      When the request "findLockers" is sent
      Then the response array has only one item which complies with the OAS schema at "/components/schemas/Locker"
      And the response property "$[0].name" value is equal to the request body property "$.name"

    @find_restricted
    Scenario: Lockers for a device
      Given a device suitable for the restricted QoS Profiles is provided in the request body or identified by the access token
      When the HTTP "POST" request is sent
      Then the restricted QoS Profiles are returned in the response

    @find_none
    Scenario: No lockers for a device
      Given a device for which the service is not applicable, provided in the request body or identified by the access token
      When the HTTP "POST" request is sent
      Then the response body is []

  Rule: A locker is read

    Background: Common get setup
      Given the resource "/lockers/v1/lockers/{name}"
      And the header "Authorization" is set to a valid access token
      And the header "x-correlator" complies with the schema at "#/components/schemas/XCorrelator"

    @get_one
    Scenario: A locker
      Given the path param "name" is set by default to an existing QoS profile name
      When the request "getLocker" is sent
      Then the response body complies with the OAS schema at "/components/schemas/Locker"
      And the response property "$.name" value is equal to path param "name"

    @get_unknown
    Scenario: No such locker
      Given the path parameter "name" is set to a random string compliant with the pattern
      When the request "getLocker" is sent
      Then the response status code is "404"
      And the response property "$.status" is 404
      And the response property "$.code" is "NOT_FOUND"
      And the response property "$.message" contains a user-friendly text

    @expired
    Scenario: An expired token
      Given an expired access token
      And the path param "name" is set by default to an existing QoS profile name
      When the request "getLocker" is sent
      Then the response status code is 401
      And the response property "$.code" is "UNAUTHENTICATED" or "EXPIRED"

  Rule: A device is identified

    Background: Common identify setup
      Given the resource "/lockers/v1/identify"
      And the header "Authorization" is set to a valid access token
      And the header "x-correlator" complies with the schema at "#/components/schemas/XCorrelator"
      And the header "Content-Type" is set to "application/json"
      And the request body is set by default to a request body compliant with the schema

    @identify
    Scenario: The device of a SIM card
      Given SIMCARD1 is installed within DEVICE1, which is connected to the network
      And SIMCARD1 is identified by the access token
      And request property "$.DEVICE" does not exist
      When the HTTPS "POST" request is sent
      Then the response body complies with the Identified schema at "/components/schemas/Identified"
      And the response property "$.imei" exists and is equal to IMEI1
      And the response property "$.ppid" exists and is equal to PPID1
      And the response property "$.model", if present, is equal to MODEL1
      And the response property "$.tac", if present, is equal to TAC1
      And the response property "$.lastChecked" exists and is a valid date-time in the past
      And the value of response property "$.recycled" is false

  Rule: Places are measured

    Background: Common measure setup
      Given the resource "/lockers/v1/measure"
      And the header "Authorization" is set to a valid access token
      And the header "x-correlator" complies with the schema at "#/components/schemas/XCorrelator"
      And the header "Content-Type" is set to "application/json"
      And the request body is set by default to a request body compliant with the schema

    @measure
    Scenario: Measurements
      Given the request body property "$.area" is set to a valid testing area within supported regions
      And the request body properties "$.startTime" and "$.endTime" are valid future date-times, with "$.endTime" later than "$.startTime"
      When the request "measure" is sent
      Then the response body complies with the OAS schema at "/components/schemas/Measured"
      And the response property "$.status" value is "SUPPORTED_AREA"
      And the response property "$.hours[*].startTime" is equal to or later than request body property "$.startTime"
      And the response property "$.hours[*].endTime" is equal to or earlier than request body property "$.endTime"
      And the response property "$.hours[*].cells[*].geohash" is a valid Geohash inside the request area
      And the response property "$.hours[*].cells[*].dataType" is equal to "LOW" or "ESTIMATE"
      And there is at least one item in response property "$.hours[*].cells[*].dataType" equal to "LOW"
      And the response property "$.hours[*].cells[*]" items with property "dataType" == "ESTIMATE" have property "people"

    @measure_nowhere
    Scenario: No measurements
      Given the request body property "$.area" is set to a valid testing area outside supported regions
      When the request "measure" is sent
      Then the response property "$.hours" is an empty array

    @measure_later
    Scenario: Measurements at a sink
      Given the request body property "$.area" is set to a valid testing area within supported regions
      And the request body property "$.sink" is set to a valid HTTPS URL
      And the request body property "$.sinkCredential" is set to a valid credential with property "$.sinkCredential.credentialType" set to "ACCESSTOKEN"
      When the request "measure" is sent
      Then the response status code is 202
      And the response includes property "$.operationId"
      And the request with the response body will be received at the address of the request property "$.sink"
      And the request will have header "Authorization" set to "Bearer " + the value of the request property "$.sinkCredential.accessToken"
      And the request will have property "$.operationId" equal to response property "$.operationId"
      And the request body complies with the OAS schema at "/components/schemas/Measured"

    @measure_fails
    Scenario: Measurements that fail
      Given the request body property "$.area" is set to a valid testing area within supported regions
      And the request body property "$.sink" is set to a valid HTTPS URL
      When the request "measure" is sent
      Then the response status code is 202
      And there have been some problem processing the request asynchronously
      And the request with the response body will be received at the address of the request property "$.sink"
      And the request body will have property "$.status" equal to "OPERATION_NOT_COMPLETED" and includes property "$.statusInfo"
