// What reflection finds, and what it says of what it does not find.
internal import GRPCCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
@testable internal import TrackingServer

struct ReflectionTests {
    private typealias Request = Grpc_Reflection_V1_ServerReflectionRequest
    private typealias File = Google_Protobuf_FileDescriptorProto

    /// A file as no proto of ours has it: an extension, and things inside of things.
    private static let odd = File.with { file in
        file.name = "odd.proto"
        file.package = "odd"
        file.messageType = [
            .with { outer in
                outer.name = "Outer"
                outer.nestedType = [.with { $0.name = "Inner" }]
                outer.oneofDecl = [.with { $0.name = "choice" }]
                outer.enumType = [
                    .with { declared in
                        declared.name = "Kind"
                        declared.value = [.with { $0.name = "KIND_NONE" }]
                    }
                ]
                outer.extension = [
                    .with { declared in
                        declared.name = "inside"
                        declared.extendee = ".odd.Outer"
                        declared.number = 200
                    }
                ]
            }
        ]
        file.extension = [
            .with { declared in
                declared.name = "outside"
                declared.extendee = ".odd.Outer"
                declared.number = 100
            }
        ]
    }

    private static func name(of bytes: [UInt8]?) throws -> String? {
        try bytes.map { try File(serializedBytes: $0).name }
    }

    @Test("the committed set has every service, and every file has all of its imports")
    func committed() throws {
        let index = try DescriptorIndex()
        #expect(
            index.services == [
                "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection", "sightline.v1.DeliveryService",
                "sightline.v1.ErasureService", "sightline.v1.TapService",
                "sightline.v1.TrackingService",
            ])
        for service in index.services {
            let bytes = try #require(index.file(declaring: service))
            for imported in try File(serializedBytes: bytes).dependency {
                #expect(index.file(named: imported) != nil, "\(imported)")
            }
        }
    }

    @Test(
        "each declaration leads to its file",
        arguments: [
            "odd.Outer", "odd.Outer.Inner", "odd.Outer.choice", "odd.Outer.Kind",
            "odd.Outer.KIND_NONE", "odd.Outer.inside", "odd.outside",
        ])
    func declarations(_ symbol: String) throws {
        let index = try DescriptorIndex([Self.odd])
        #expect(try Self.name(of: index.file(declaring: symbol).map(Array.init)) == "odd.proto")
    }

    @Test(
        "what is no declaration leads nowhere",
        arguments: ["", "odd", "Outer", ".odd.Outer", "odd.Outer.Kind.KIND_NONE", "odd.inside"])
    func strangers(_ symbol: String) throws {
        #expect(try DescriptorIndex([Self.odd]).file(declaring: symbol) == nil)
    }

    @Test("extensions are found by their message and number")
    func extensions() throws {
        let index = try DescriptorIndex([Self.odd])
        #expect(index.extensionNumbers(of: "odd.Outer") == [100, 200])
        #expect(index.extensionNumbers(of: "odd.Outer.Inner") == [])
        #expect(index.extensionNumbers(of: "odd.Other") == nil)
        for number: Int32 in [100, 200] {
            let bytes = index.file(extending: "odd.Outer", number: number)
            #expect(try Self.name(of: bytes.map(Array.init)) == "odd.proto")
        }
        #expect(index.file(extending: "odd.Outer", number: 300) == nil)
    }

    @Test("a name of 1024 bytes is looked up, one of 1025 is refused and not sent back")
    func lengths() throws {
        let service = ReflectionService(
            index: try DescriptorIndex([Self.odd]), closing: CancellationError())
        func answer(_ count: Int) -> Grpc_Reflection_V1_ServerReflectionResponse {
            service.answer(
                .with { $0.fileByFilename = String(repeating: "x", count: count) })
        }
        #expect(answer(1024).errorResponse.errorCode == Int32(Status.Code.notFound.rawValue))
        #expect(answer(1024).hasOriginalRequest)
        #expect(answer(1025).errorResponse.errorCode == Int32(Status.Code.invalidArgument.rawValue))
        #expect(!answer(1025).hasOriginalRequest)
    }

    @Test("an answer carries its question and its host")
    func echo() throws {
        let service = ReflectionService(
            index: try DescriptorIndex([Self.odd]), closing: CancellationError())
        let request = Request.with { question in
            question.host = "here"
            question.listServices = ""
        }
        let answer = service.answer(request)
        #expect(answer.validHost == "here" && answer.originalRequest == request)
        #expect(answer.listServicesResponse.service.isEmpty)
    }
}
