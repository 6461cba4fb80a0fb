internal import SwiftProtobuf

/// Makes an EventTable of descriptors.
struct EventTableMaker {
    /// A field of a type that no event has had so far: its reader is to be written first.
    struct UnknownType: Error {
        let field: String
    }

    private typealias FieldDescriptor = Google_Protobuf_FieldDescriptorProto

    /// One bit for each field of a message.
    private static let maxFields = UInt64.bitWidth
    /// What a time's other form adds to its names.
    private static let milliseconds = (jsonName: "Millis", name: "_millis")

    private var declaredMessages: [String: Google_Protobuf_DescriptorProto] = [:]
    private var declaredEnums: [String: Google_Protobuf_EnumDescriptorProto] = [:]
    /// The full names of the messages and enums in the table, in their order there.
    private var messageNames: [String] = []
    private var enumNames: [String] = []

    init(_ files: [Google_Protobuf_FileDescriptorProto]) {
        for file in files {
            for message in file.messageType { self.add(message, in: ".\(file.package)") }
            for declared in file.enumType {
                self.declaredEnums[".\(file.package).\(declared.name)"] = declared
            }
        }
    }

    private mutating func add(_ message: Google_Protobuf_DescriptorProto, in scope: String) {
        let name = "\(scope).\(message.name)"
        self.declaredMessages[name] = message
        for nested in message.nestedType { self.add(nested, in: name) }
        for declared in message.enumType {
            self.declaredEnums["\(name).\(declared.name)"] = declared
        }
    }

    /// A message, and all messages and enums that it leads to.
    ///
    /// - Throws: `UnknownType`.
    mutating func tables(
        of root: String
    ) throws -> (messages: [EventTable.Message], enumerations: [EventTable.Enumeration]) {
        self.messageNames = [root]
        var messages: [EventTable.Message] = []
        // Grows while it is gone through: each message adds those that it mentions first.
        while messages.count < self.messageNames.count {
            messages.append(try self.message(self.messageNames[messages.count]))
        }
        let enumerations = self.enumNames.map { name in
            let declared = self.declaredEnums[name] ?? .init()
            return EventTable.Enumeration(
                name: declared.name, values: declared.value.map { ($0.name, $0.number) })
        }
        return (messages, enumerations)
    }

    private mutating func message(_ name: String) throws -> EventTable.Message {
        guard let declared = self.declaredMessages[name],
            declared.field.count <= Self.maxFields
        else { throw UnknownType(field: name) }
        var fields: [EventTable.Field] = []
        for (index, field) in declared.field.enumerated() {
            let own = try self.field(field, index)
            fields.append(own)
            if own.kind == .timestamp { fields.append(Self.milliseconds(of: own)) }
        }
        let names = fields.enumerated().flatMap { index, field in
            let names = field.jsonName == field.name ? [field.name] : [field.jsonName, field.name]
            return names.map { (text: Array($0.utf8), field: index) }
        }
        return EventTable.Message(name: declared.name, fields: fields, names: names)
    }

    private mutating func field(
        _ field: FieldDescriptor, _ index: Int
    ) throws -> EventTable.Field {
        let (kind, target) = try self.kind(of: field)
        return EventTable.Field(
            jsonName: field.jsonName, name: field.name, kind: kind, target: target,
            oneof: field.hasOneofIndex && !field.proto3Optional ? Int(field.oneofIndex) : nil,
            number: UInt32(field.number), hasPresence: field.hasOneofIndex, bit: 1 << UInt64(index))
    }

    private static func milliseconds(of field: EventTable.Field) -> EventTable.Field {
        EventTable.Field(
            jsonName: field.jsonName + Self.milliseconds.jsonName,
            name: field.name + Self.milliseconds.name, kind: .milliseconds, target: 0,
            oneof: field.oneof, number: field.number, hasPresence: field.hasPresence,
            bit: field.bit)
    }

    private mutating func kind(
        of field: FieldDescriptor
    ) throws -> (EventTable.Kind, target: Int) {
        let type = field.typeName
        guard field.label != .repeated else {
            guard let entry = self.declaredMessages[type], entry.options.mapEntry,
                entry.field.allSatisfy({ $0.type == .string })
            else { throw UnknownType(field: field.name) }
            return (.stringMap, 0)
        }
        switch field.type {
        case .string: return (.string, 0)
        case .bool: return (.bool, 0)
        case .int32: return (.int32, 0)
        case .bytes: return (.json, 0)
        case .message where type == ".google.protobuf.Timestamp": return (.timestamp, 0)
        case .enum where self.declaredEnums[type] != nil:
            return (.enumeration, Self.index(of: type, in: &self.enumNames))
        case .message where self.declaredMessages[type] != nil:
            return (.message, Self.index(of: type, in: &self.messageNames))
        default: throw UnknownType(field: field.name)
        }
    }

    private static func index(of name: String, in names: inout [String]) -> Int {
        if let index = names.firstIndex(of: name) { return index }
        names.append(name)
        return names.count - 1
    }
}
