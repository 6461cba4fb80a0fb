// Server reflection, v1 and v1alpha: clients such as `buf curl` and grpcurl learn from it what the
// server takes, without files. No package of this gRPC offers it, so here is the smallest form
// that conforms: each question for a file is answered with that file alone (a client asks for its
// imports by name), and both versions share one set of messages, since they differ in name only.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import SightlineProtos
internal import SwiftProtobuf

/// Answers questions about what Protos declare.
struct ReflectionService: RegistrableRPCService {
    private typealias Answer = Grpc_Reflection_V1_ServerReflectionResponse.OneOf_MessageResponse
    private typealias Method = Grpc_Reflection_V1_ServerReflection.Method.ServerReflectionInfo

    /// Bytes of a name that may be asked for; real ones have less than a hundred.
    static let maxNameBytes = 1024

    let index: DescriptorIndex

    func registerMethods(with router: inout RPCRouter<some ServerTransport>) {
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

    /// Answers until the client has ended the stream; an idle stream may not hold a drain.
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
                throw ServiceError.closing.status
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The answer to one question; what cannot be answered is an answer too, and ends nothing.
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
                // What is too long to be a name is not sent back either.
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

/// Why there is no answer.
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
