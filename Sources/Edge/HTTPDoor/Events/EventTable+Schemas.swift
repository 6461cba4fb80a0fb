// The events of the table as JSON Schema, for the door's description.
internal import EventJSON
internal import JSON

extension EventTable {
    /// A schema for each message. A field may have either of its names.
    var schemas: JSONObject {
        var schemas = JSONObject()
        for message in self.messages { schemas[message.name] = self.schema(of: message) }
        return schemas
    }

    private func schema(of message: Message) -> JSONValue {
        var members: [(String, JSONValue)] = []
        for field in message.fields {
            let schema = self.schema(of: field)
            members.append((field.jsonName, schema))
            if field.name != field.jsonName { members.append((field.name, schema)) }
        }
        return DoorDescription.closed(members)
    }

    /// What a field takes: null is as good as an absent field.
    private func schema(of field: Field) -> JSONValue {
        let integer: JSONValue = [
            "type": "integer", "minimum": -2_147_483_648, "maximum": 2_147_483_647,
        ]
        let schema: JSONValue =
            switch field.kind {
            case .string: ["type": "string"]
            case .bool: ["type": "boolean"]
            case .int32: integer
            case .enumeration:
                [
                    "oneOf": [
                        [
                            "type": "string",
                            "enum": .array(
                                self.enumerations[field.target].values.map { .string($0.name) }),
                        ], integer,
                    ]
                ]
            case .message: DoorDescription.reference(self.messages[field.target].name)
            case .timestamp: ["type": "string", "format": "date-time"]
            case .milliseconds: ["type": "integer"]
            case .stringMap: ["type": "object", "additionalProperties": ["type": "string"]]
            case .json:
                [
                    "description": "The payload itself, or its bytes in base64.",
                    "type": ["object", "array", "string"],
                ]
            }
        return ["oneOf": [schema, ["type": "null"]]]
    }
}
