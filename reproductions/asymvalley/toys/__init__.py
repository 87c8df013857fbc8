"""What needs no trained net: three scalings, class weights, one ReLU unit, softmax regression."""
