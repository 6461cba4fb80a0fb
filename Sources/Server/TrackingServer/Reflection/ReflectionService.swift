// Server reflection, v1 and v1alpha, for clients such as `buf curl` and grpcurl. grpc-swift's
// packages do not offer it. A request for a file gets that file only, since clients ask for imports
// by name. Both versions share their messages, which differ in name only.
internal import Foundation
package import GRPCCore
internal import GRPCProtobuf
internal import SightlineProtos
internal import SwiftProtobuf

/// Answers reflection requests about Protos.
package struct ReflectionService: RegistrableRPCService {
    private typealias Answer = Grpc_Reflection_V1_ServerReflectionResponse.OneOf_MessageResponse
    private typealias Method = Grpc_Reflection_V1_ServerReflection.Method.ServerReflectionInfo

    /// The maximum bytes of a name in a request; real ones have under a hundred.
    static let maxNameBytes = 1024

    private let index: DescriptorIndex
    private let closing: any Error

    /// Answers from an index.
    ///
    /// - Parameter closing: ends a stream while the server drains.
    package init(index: DescriptorIndex, closing: any Error) {
        (self.index, self.closing) = (index, closing)
    }

    /// Registers the method of both versions.
    package func registerMethods(with router: inout RPCRouter<some ServerTransport>) {
        for version in ["v1", "v1alpha"] {
            let service = ServiceDescriptor(
                fullyQualifiedService: "grpc.reflection.\(version).ServerReflection")
            router.registerHandler(
                forMethod: MethodDescriptor(
                    service: service, method: Method.descriptor.method,
                    type: .bidirectionalStreaming),
                deserializer: ProtobufDeserializer<Method.Input>(),
                serializer: ProtobufSerializer<Method.Output>()
            ) { request, context in
                StreamingServerResponse { writer in
                    try await self.answer(request.messages, to: writer, context.cancellation)
                    return [:]
                }
            }
        }
    }

    /// Answers until the client half-closes, or the server drains: an idle stream must not delay
    /// it.
    private func answer(
        _ requests: RPCAsyncSequence<Grpc_Reflection_V1_ServerReflectionRequest, any Error>,
        to writer: RPCWriter<Grpc_Reflection_V1_ServerReflectionResponse>,
        _ cancellation: ServerContext.RPCCancellationHandle
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await request in requests {
                    try await writer.write(self.answer(request))
                }
            }
            group.addTask {
                try await cancellation.cancelled
                throw self.closing
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Answers one request; an error is an answer too and does not end the stream.
    func answer(
        _ request: Grpc_Reflection_V1_ServerReflectionRequest
    ) -> Grpc_Reflection_V1_ServerReflectionResponse {
        .with { response in
            do throws(ReflectionFailure) {
                try Self.check(request.host)
                response.messageResponse = try self.message(for: request)
                response.validHost = request.host
                response.originalRequest = request
            } catch {
                // Do not echo an overlong name.
                if error != .tooLong { response.originalRequest = request }
                response.errorResponse = .with { proto in
                    proto.errorCode = Int32(error.code.rawValue)
                    proto.errorMessage = error.message
                }
            }
        }
    }

    private func message(
        for request: Grpc_Reflection_V1_ServerReflectionRequest
    ) throws(ReflectionFailure) -> Answer {
        guard let question = request.messageRequest else { throw .noQuestion }
        switch question {
        case .listServices:
            return .listServicesResponse(
                .with { list in
                    list.service = self.index.services.map { name in .with { $0.name = name } }
                })
        case .fileByFilename(let name):
            try Self.check(name)
            return try Self.file(self.index.file(named: name), name)
        case .fileContainingSymbol(let name):
            try Self.check(name)
            return try Self.file(self.index.file(declaring: name), name)
        case .fileContainingExtension(let asked):
            try Self.check(asked.containingType)
            let (type, number) = (asked.containingType, asked.extensionNumber)
            return try Self.file(
                self.index.file(extending: type, number: number), "\(type) \(number)")
        case .allExtensionNumbersOfType(let type):
            try Self.check(type)
            guard let numbers = self.index.extensionNumbers(of: type) else {
                throw .notFound(type)
            }
            return .allExtensionNumbersResponse(
                .with { answer in
                    answer.baseTypeName = type
                    answer.extensionNumber = numbers
                })
        }
    }

    private static func check(_ name: String) throws(ReflectionFailure) {
        guard name.utf8.count <= Self.maxNameBytes else { throw .tooLong }
    }

    private static func file(
        _ file: Data?, _ name: String
    ) throws(ReflectionFailure) -> Answer {
        guard let file else { throw .notFound(name) }
        return .fileDescriptorResponse(.with { $0.fileDescriptorProto = [file] })
    }
}

/// Why a request cannot be answered.
enum ReflectionFailure: Error, Equatable {
    case noQuestion
    case tooLong
    case notFound(String)

    var code: Status.Code {
        switch self {
        case .noQuestion, .tooLong: .invalidArgument
        case .notFound: .notFound
        }
    }

    var message: String {
        switch self {
        case .noQuestion: "the request asks nothing: set one field of message_request"
        case .tooLong: "a name has at most \(ReflectionService.maxNameBytes) bytes: ask for less"
        case .notFound(let name): "\"\(name)\" is not declared here: list_services tells what is"
        }
    }
}
