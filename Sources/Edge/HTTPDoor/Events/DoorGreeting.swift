internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import WireFormat

/// `GET /v1/`: how to send one event, for whoever has found the port.
enum DoorGreeting {
    private static let text = """
        This is Sightline, which records push-tracking events. Send one:

          curl --json '{
            "eventId": "e1",
            "push": {
              "kind": "PUSH_INTERACTION_KIND_OPENED",
              "fcm": {"data": {"_dId": "56c4", "_mId": "h138a"}}
            }
          }' "$ADDRESS/v1/events?results=all"

        where ADDRESS is what you have asked for this page, such as http://localhost:8080. If the
        server wants credentials, add --header "Authorization: Bearer $KEY".

        A description for programs: /v1/openapi.json
        Everything else: \(Documentation.page("http.md"))

        """

    /// The page, or its links in JSON for whoever accepts that and no text.
    static func answer(_ request: DoorRequest) -> DoorResponse {
        let accepted = request.headers[values: .accept].joined(separator: ",").lowercased()
        let isJSON = accepted.contains("json") && !accepted.contains("text/")
        let body = isJSON ? Self.links : Self.text
        let type = isJSON ? "application/json" : "text/plain; charset=utf-8"
        return DoorResponse(
            status: .ok, headers: [.contentType: type, .vary: "Accept"],
            body: ByteBuffer(string: body))
    }

    private static let links =
        JSONValue.object([
            "events": .string("/v1/events"), "openapi": .string("/v1/openapi.json"),
            "documentation": .string(Documentation.page("http.md")),
        ]).text + "\n"
}
