// W3C Baggage: what is passed on, and what is not.
internal import Testing
internal import W3CTrace

struct BaggageTests {
    private static let members64 = (0..<64).map { "k\($0)=v" }.joined(separator: ",")
    /// `k=` and its value, of so many bytes in all.
    private static func member(_ bytes: Int) -> String {
        "k=" + String(repeating: "v", count: bytes - 2)
    }

    private static let passedOn: [(header: String, kept: String)] = [
        ("a=b", "a=b"), ("a=b,c=d", "a=b,c=d"), (" a=b\t, c=d ", "a=b,c=d"), ("a=", "a="),
        ("a=b,,c=d,", "a=b,c=d"), ("a=b;p", "a=b;p"), ("a=b;p=q;r", "a=b;p=q;r"),
        ("a = b ; p = q", "a = b ; p = q"), ("a=b=c", "a=b=c"), ("a=%20%C3%A4", "a=%20%C3%A4"),
        ("A!#$%&'*+-.^_`|~9=b", "A!#$%&'*+-.^_`|~9=b"), ("a=1,a=2", "a=1,a=2"),
        ("a=!#$%&'()*+-./:<=>?@[]^_`{|}~", "a=!#$%&'()*+-./:<=>?@[]^_`{|}~"),
        (members64, members64), (members64 + ",k64=v", members64),
        (member(8192), member(8192)), ("a=b," + member(8188), "a=b," + member(8188)),
        ("a=b," + member(8189), "a=b"), ("a=b," + member(9000) + ",c=d", "a=b"),
    ]

    @Test(
        "members are passed on as they came, up to 64 and 8192 bytes, and whole", arguments: 0..<19)
    func passed(_ index: Int) {
        let (header, kept) = Self.passedOn[index]
        #expect(Baggage(header: header)?.header == kept)
    }

    @Test("every row is tried")
    func rows() { #expect(Self.passedOn.count == 19) }

    private static let malformed: [String] = [
        "", " ", ",", ", ,\t,", "a", "=b", "a b=c", "a=b c", "a=\"b\"", "a=b\\", "a=b;", "a=b;;p",
        "a=b;=q", "a=b;p q", "a=b;p=\"", "ä=b", "a=ä", "a=b,c", "a=b,=d", "a(=b", "a=b\u{1}",
        "a=b\u{7f}", "a;p=b", ";p=q", "a=b;p,c", "a@=b", "[a]=b", "a=\u{0}", "\u{b}a=b",
        member(8193),
    ]

    @Test(
        "a malformed list is dropped whole, and so is a first member that is too long",
        arguments: malformed)
    func dropped(_ header: String) { #expect(Baggage(header: header) == nil) }
}
