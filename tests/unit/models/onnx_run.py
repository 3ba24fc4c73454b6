"""onnx_run.py MODEL INPUT EXPECTED: check an ONNX file, run it, and compare.

The file must pass onnx.checker and strict shape inference. Then its nodes are computed with numpy on
INPUT (raw float32), and the result may differ from EXPECTED by rounding only. python3-onnx of
Debian 12 has no evaluator of its own, so the few operators that we write are written down here, from
the specification of the operators.
"""
import sys

import numpy
import onnx
import onnx.checker
import onnx.numpy_helper
import onnx.shape_inference


def windows(x, kernel, strides, pads, fill):
    """[batch, channels, window, height, width]: what lies under each tap of the window."""
    x = numpy.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
    h = (x.shape[2] - kernel[0]) // strides[0] + 1
    w = (x.shape[3] - kernel[1]) // strides[1] + 1
    return numpy.stack([x[:, :, y:y + h * strides[0]:strides[0], z:z + w * strides[1]:strides[1]][:, :, :h, :w]
                        for y in range(kernel[0]) for z in range(kernel[1])], axis=2)


def conv(a, x, w):
    group = a.get('group', 1)
    taps = windows(x, a['kernel_shape'], a['strides'], a['pads'], 0)
    n, c, k, oh, ow = taps.shape
    taps = taps.reshape(n, group, c // group, k, oh, ow)
    w = w.reshape(group, w.shape[0] // group, w.shape[1], k)
    return numpy.einsum('ngckyx,gock->ngoyx', taps, w).reshape(n, -1, oh, ow)


def instance_norm(a, x, scale, bias):
    axes = tuple(range(2, x.ndim))
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return (x - mean) / numpy.sqrt(variance + a['epsilon']) * scale.reshape(shape) + bias.reshape(shape)


def batch_norm(a, x, scale, bias, mean, variance):
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return ((x - mean.reshape(shape)) / numpy.sqrt(variance.reshape(shape) + a['epsilon']) * scale.reshape(shape)
            + bias.reshape(shape))


def reshape(a, x, shape):
    return x.reshape([x.shape[i] if d == 0 else int(d) for i, d in enumerate(shape)])


def softmax(a, x):
    e = numpy.exp(x - x.max(axis=a['axis'], keepdims=True))
    return e / e.sum(axis=a['axis'], keepdims=True)


OPERATORS = {
    'Add': lambda a, x, y: x + y,
    'AveragePool': lambda a, x: windows(x, a['kernel_shape'], a['strides'], a['pads'], 0).mean(axis=2),
    'BatchNormalization': batch_norm,
    'Conv': conv,
    'Div': lambda a, x, y: x / y,
    'Flatten': lambda a, x: x.reshape(x.shape[0], -1),
    'Gemm': lambda a, x, w, b: x @ w + b,
    'GlobalAveragePool': lambda a, x: x.mean(axis=(2, 3), keepdims=True),
    'Identity': lambda a, x: x,
    'InstanceNormalization': instance_norm,
    'Max': lambda a, x, y: numpy.maximum(x, y),
    'MaxPool': lambda a, x: windows(x, a['kernel_shape'], a['strides'], a['pads'], -numpy.inf).max(axis=2),
    'Mul': lambda a, x, y: x * y,
    'ReduceL2': lambda a, x: numpy.sqrt((x * x).sum(axis=tuple(a['axes']), keepdims=True)),
    'ReduceMean': lambda a, x: x.mean(axis=tuple(a['axes']), keepdims=True),
    'Relu': lambda a, x: numpy.maximum(x, 0),
    'Reshape': reshape,
    'Softmax': softmax,
    'Sqrt': lambda a, x: numpy.sqrt(x),
    'Sub': lambda a, x, y: x - y,
}


def shape_of(value):
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def main(path, input_path, expected_path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    known = {v.name for v in inferred.graph.value_info} | {v.name for v in inferred.graph.output}
    for node in model.graph.node:
        assert node.output[0] in known, f'the shape of {node.output[0]} cannot be inferred'
    source, = model.graph.input
    target, = model.graph.output
    assert shape_of(source)[0] == 'batch' and shape_of(target)[0] == 'batch'
    values = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    values[source.name] = numpy.fromfile(input_path, numpy.float32).reshape([-1] + shape_of(source)[1:])
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](attributes, *(values[name] for name in node.input))
        assert values[node.output[0]].dtype == numpy.float32, node.output[0]
    got = values[target.name]
    assert list(got.shape[1:]) == shape_of(target)[1:], got.shape
    expected = numpy.fromfile(expected_path, numpy.float32).reshape(got.shape)
    apart = float(numpy.abs(got - expected).max())
    assert apart < 2e-5, f'the outputs differ by {apart}'
    print(f'{len(model.graph.node)} nodes, {got.shape[0]} samples, outputs differ by {apart:.1e}')


main(*sys.argv[1:])
