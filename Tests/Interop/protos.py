"""The Python code of Protos, made by grpcio-tools when the tests start; none is committed."""

import atexit
import importlib
import pathlib
import shutil
import sys
import tempfile

from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def _generate() -> str:
    """Generates into a temporary folder, which goes when the tests end."""
    folder = tempfile.mkdtemp(prefix="sightline-protos-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    protos = ROOT / "Protos"
    # Ours alone: the standard's contracts come with the clients that are tested with them.
    files = [str(path) for path in sorted(protos.glob("sightline/**/*.proto"))]
    well_known = str(pathlib.Path(protoc.__file__).parent / "_proto")
    arguments = ["protoc", f"-I{protos}", f"-I{well_known}", f"--python_out={folder}",
                 f"--grpc_python_out={folder}", *files]
    if protoc.main(arguments) != 0:
        raise RuntimeError(f"grpcio-tools cannot compile {protos}")
    return folder


sys.path.insert(0, _generate())

event = importlib.import_module("sightline.v1.event_pb2")
payload = importlib.import_module("sightline.v1.payload_pb2")
verdict = importlib.import_module("sightline.v1.verdict_pb2")
service = importlib.import_module("sightline.v1.tracking_service_pb2")
service_grpc = importlib.import_module("sightline.v1.tracking_service_pb2_grpc")
tap = importlib.import_module("sightline.v1.tap_service_pb2")
tap_grpc = importlib.import_module("sightline.v1.tap_service_pb2_grpc")
erasure_service = importlib.import_module("sightline.v1.erasure_service_pb2")
erasure_service_grpc = importlib.import_module("sightline.v1.erasure_service_pb2_grpc")
delivery_service = importlib.import_module("sightline.v1.delivery_service_pb2")
delivery_service_grpc = importlib.import_module("sightline.v1.delivery_service_pb2_grpc")
record = importlib.import_module("sightline.v1.record_pb2")
