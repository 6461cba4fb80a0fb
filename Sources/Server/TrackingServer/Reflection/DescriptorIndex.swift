internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf

/// Indexes file descriptors for server reflection, by file and by full name.
package struct DescriptorIndex: Sendable {
    /// The full names of all services, sorted.
    private(set) var services: [String] = []
    private var files: [String: Data] = [:]
    private var fileNames: [String: String] = [:]
    private var extensions: [String: [Int32: String]] = [:]

    /// Indexes the descriptors of Protos.
    ///
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    package init() throws {
        let files = try DescriptorSet.files()
        try self.init(files + files.compactMap(Self.older))
    }

    /// Indexes the given files.
    init(_ files: [Google_Protobuf_FileDescriptorProto]) throws {
        for file in files {
            self.files[file.name] = try file.serializedBytes()
            self.add(file)
        }
        self.services.sort()
    }

    /// The serialized descriptor of a file.
    func file(named name: String) -> Data? { self.files[name] }

    /// The file that declares a service, method, message, field, enum or enum value.
    func file(declaring symbol: String) -> Data? {
        self.fileNames[symbol].flatMap { self.files[$0] }
    }

    /// The file that declares an extension.
    func file(extending type: String, number: Int32) -> Data? {
        self.extensions[type]?[number].flatMap { self.files[$0] }
    }

    /// The numbers of a message's extensions; nil if the message is unknown.
    func extensionNumbers(of type: String) -> [Int32]? {
        if let known = self.extensions[type] { return known.keys.sorted() }
        return self.fileNames[type] == nil ? nil : []
    }

    /// Reflection's v1alpha file, derived from v1, whose messages are identical.
    private static func older(
        _ file: Google_Protobuf_FileDescriptorProto
    ) -> Google_Protobuf_FileDescriptorProto? {
        let package = "grpc.reflection.v1"
        guard file.package == package else { return nil }
        func renamed(_ type: String) -> String {
            type.replacing(".\(package).", with: ".\(package)alpha.")
        }
        var copy = file
        copy.name = file.name.replacing("/v1/", with: "/v1alpha/")
        copy.package = package + "alpha"
        for message in copy.messageType.indices {
            for field in copy.messageType[message].field.indices
            where copy.messageType[message].field[field].hasTypeName {
                let type = copy.messageType[message].field[field].typeName
                copy.messageType[message].field[field].typeName = renamed(type)
            }
        }
        for service in copy.service.indices {
            for method in copy.service[service].method.indices {
                let (input, output) = (
                    copy.service[service].method[method].inputType,
                    copy.service[service].method[method].outputType
                )
                copy.service[service].method[method].inputType = renamed(input)
                copy.service[service].method[method].outputType = renamed(output)
            }
        }
        return copy
    }

    // MARK: Names

    private mutating func add(_ file: Google_Protobuf_FileDescriptorProto) {
        let scope = file.package.isEmpty ? "" : file.package + "."
        for message in file.messageType { self.add(message, in: scope, of: file.name) }
        for declared in file.enumType { self.add(declared, in: scope, of: file.name) }
        for declared in file.extension { self.add(declared, in: scope, of: file.name) }
        for service in file.service {
            let name = scope + service.name
            self.services.append(name)
            self.fileNames[name] = file.name
            for method in service.method { self.fileNames["\(name).\(method.name)"] = file.name }
        }
    }

    private mutating func add(
        _ message: Google_Protobuf_DescriptorProto, in scope: String, of file: String
    ) {
        let name = scope + message.name
        self.fileNames[name] = file
        for field in message.field { self.fileNames["\(name).\(field.name)"] = file }
        for oneof in message.oneofDecl { self.fileNames["\(name).\(oneof.name)"] = file }
        for nested in message.nestedType { self.add(nested, in: "\(name).", of: file) }
        for declared in message.enumType { self.add(declared, in: "\(name).", of: file) }
        for declared in message.extension { self.add(declared, in: "\(name).", of: file) }
    }

    private mutating func add(
        _ declared: Google_Protobuf_EnumDescriptorProto, in scope: String, of file: String
    ) {
        self.fileNames[scope + declared.name] = file
        // An enum value's full name is in the scope of its enum, not inside it.
        for value in declared.value { self.fileNames[scope + value.name] = file }
    }

    private mutating func add(
        _ declared: Google_Protobuf_FieldDescriptorProto, in scope: String, of file: String
    ) {
        self.fileNames[scope + declared.name] = file
        let type = String(declared.extendee.drop { $0 == "." })
        self.extensions[type, default: [:]][declared.number] = file
    }
}
