internal import EventJSON
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import WireFormat

/// `GET /v1/openapi.json`: what the door takes and answers, as OpenAPI 3.1. The events are
/// described by the table that they are read by.
struct DoorDescription: Sendable {
    private let text: ByteBuffer

    /// Describes the events of a table.
    init(_ table: EventTable) {
        let document = Self.document(Self.schemas(of: table))
        self.text = ByteBuffer(string: JSONValue.object(document).text + "\n")
    }

    /// The description.
    func answer() -> DoorResponse {
        DoorResponse(
            status: .ok, headers: [.contentType: "application/json"], body: self.text)
    }

    private static func document(_ schemas: JSONObject) -> JSONObject {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "Sightline", "version": "1",
                "summary": "Records push-tracking events.",
                "description": .string("How to use it: \(Documentation.page("http.md"))"),
            ],
            "security": [[:], ["bearer": []], ["key": []]],
            "paths": [
                "/v1/events": ["post": .object(recording)],
                "/v1/": ["get": .object(page)],
                "/v1/openapi.json": ["get": .object(description)],
            ],
            "components": [
                "securitySchemes": [
                    "bearer": ["type": "http", "scheme": "bearer"],
                    "key": ["type": "apiKey", "in": "header", "name": "x-api-key"],
                ],
                "schemas": .object(schemas),
            ],
        ]
    }

    // MARK: Paths

    private static let recording: JSONObject = [
        "operationId": "recordEvents",
        "summary": "Records events, and answers once they are durable.",
        "parameters": [
            [
                "name": "results", "in": "query",
                "description": "Whether to return the results of accepted events too.",
                "schema": ["type": "string", "enum": ["all"]],
            ]
        ],
        "requestBody": [
            "required": true,
            "content": [
                "application/json": ["schema": reference("Events")],
                "application/x-ndjson": [
                    "schema": ["type": "string", "description": "An event in each line."]
                ],
                "application/x-protobuf": [
                    "schema": [
                        "type": "string", "format": "binary",
                        "description": "A sightline.v1.RecordEventsRequest.",
                    ]
                ],
            ],
        ],
        "responses": .object(recordingAnswers),
    ]

    private static let recordingAnswers: JSONObject = {
        var answers: JSONObject = [
            "200": [
                "description": "The verdicts. An event that is rejected is one of them.",
                "headers": ["Retry-After": .object(seconds(isRequired: false))],
                "content": ["application/json": ["schema": reference("Answer")]],
            ]
        ]
        for (status, description, waits) in problems {
            var answer: JSONObject = [
                "description": .string(description),
                "content": ["application/problem+json": ["schema": reference("Problem")]],
            ]
            if waits { answer["headers"] = ["Retry-After": .object(seconds(isRequired: false))] }
            answers[status] = .object(answer)
        }
        return answers
    }()

    /// What a request is refused with as a whole.
    private static let problems: [(status: String, description: String, waits: Bool)] = [
        ("400", "The body is no JSON, or breaks a rule as a whole.", false),
        ("401", "Credentials are missing or not accepted.", false),
        ("403", "The credentials lack a scope.", false),
        ("405", "Another method than those in `Allow`.", false),
        ("408", "The request was not complete in time.", false),
        ("413", "Too many events or bytes: send fewer in each request.", false),
        ("415", "A media type or an encoding that is not taken.", false),
        ("429", "The tenant's quota is used up: send the same again after the delay.", true),
        ("431", "Too many header fields.", false),
        ("499", "The client has given up.", false),
        ("500", "The server failed: a bug.", false),
        ("501", "A form of HTTP that is not taken.", false),
        ("503", "Overloaded, or closing: send the same again after the delay.", true),
        ("504", "The deadline that the request named has passed.", false),
    ]

    private static func seconds(isRequired: Bool) -> JSONObject {
        [
            "description": "Seconds to wait before sending again.", "required": .bool(isRequired),
            "schema": ["type": "integer", "minimum": 1],
        ]
    }

    private static let page: JSONObject = [
        "operationId": "greeting", "summary": "How to send one event.", "security": [],
        "responses": [
            "200": [
                "description": "Text for people, or links.",
                "content": [
                    "text/plain": ["schema": ["type": "string"]],
                    "application/json": [
                        "schema": closed(
                            ["events", "openapi", "documentation"].map {
                                ($0, ["type": "string"])
                            }, required: ["events", "openapi", "documentation"])
                    ],
                ],
            ]
        ],
    ]

    private static let description: JSONObject = [
        "operationId": "openapi", "summary": "This description.", "security": [],
        "responses": [
            "200": [
                "description": "OpenAPI 3.1.",
                "content": ["application/json": ["schema": ["type": "object"]]],
            ]
        ],
    ]

    // MARK: Schemas

    /// A reference to a schema.
    static func reference(_ name: String) -> JSONValue {
        ["$ref": .string("#/components/schemas/\(name)")]
    }

    /// An object with these members and no other.
    static func closed(_ members: [(String, JSONValue)], required: [String] = []) -> JSONValue {
        var properties = JSONObject()
        for (name, schema) in members { properties[name] = schema }
        var schema: JSONObject = [
            "type": "object", "properties": .object(properties), "additionalProperties": false,
        ]
        if !required.isEmpty { schema["required"] = .array(required.map { .string($0) }) }
        return .object(schema)
    }

    private static func schemas(of table: EventTable) -> JSONObject {
        var schemas = table.schemas
        schemas["Events"] = [
            "description": "One event, an array of them, or an object that has the array.",
            "oneOf": [
                reference("TrackingEvent"),
                ["type": "array", "items": reference("TrackingEvent")],
                closed(
                    [("events", ["type": "array", "items": reference("TrackingEvent")])],
                    required: ["events"]),
            ],
        ]
        for (name, schema) in answers { schemas[name] = schema }
        return schemas
    }

    private static let answers: [(String, JSONValue)] = {
        let count: JSONValue = ["type": "integer", "minimum": 0]
        let text: JSONValue = ["type": "string"]
        func names(_ names: EnumNames) -> JSONValue {
            ["type": "string", "enum": .array(names.names.map { .string($0) })]
        }
        let counts = ["accepted", "suppressed", "duplicate", "rejected", "retryLater"]
        let violation = closed(
            [
                ("field", text), ("code", names(.violationCode)), ("description", text),
            ], required: ["field", "code", "description"])
        return [
            (
                "Answer",
                closed(
                    [
                        ("tally", closed(counts.map { ($0, count) }, required: counts)),
                        ("results", ["type": "array", "items": reference("Result")]),
                        ("retryDelay", ["type": "string", "pattern": #"^\d+(\.\d+)?s$"#]),
                    ], required: ["tally", "results"])
            ),
            (
                "Result",
                closed(
                    [
                        ("index", count), ("eventId", text), ("verdict", names(.verdict)),
                        ("violations", ["type": "array", "items": violation]),
                        ("hits", ["type": "array", "items": names(.hitKind)]),
                        ("warnings", ["type": "array", "items": names(.warning)]),
                    ], required: ["index", "verdict"])
            ),
            (
                "Problem",
                closed(
                    [
                        ("type", ["type": "string", "format": "uri"]), ("title", text),
                        ("status", ["type": "integer", "minimum": 400, "maximum": 599]),
                        ("detail", text), ("reason", ["type": "string", "pattern": "^[A-Z_]+$"]),
                        (
                            "violations",
                            [
                                "type": "array",
                                "items": closed(
                                    [("field", text), ("description", text)],
                                    required: ["field", "description"]),
                            ]
                        ),
                        ("offset", count), ("line", ["type": "integer", "minimum": 1]),
                    ], required: ["type", "title", "status", "detail", "reason"])
            ),
        ]
    }()
}
